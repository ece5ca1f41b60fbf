"""Leaves the model in training mode, whatever its mode was before.

Exercise: generate
Believes: after a text, training goes on.
Shows: the text is right; a model in evaluation mode drops parts of its input afterwards.
Hint: Print model.training before and after your function, for a model in either mode.
Rejected by: test_mode_is_restored
Costs: 15 %
Belief: mode_not_restored
"""


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    model.eval()
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
    model.train()
    return ids
