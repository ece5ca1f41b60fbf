"""Lets the model write with its dropout switched on.

Exercise: generate
Believes: torch.no_grad() is evaluation mode.
Shows: a freshly trained model makes more mistakes than it has to, and at temperature 0 two texts differ.
Hint: no_grad() is about gradients. What is it that dropout looks at?
Rejected by: test_dropout_is_off
Costs: 30 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    return ids
