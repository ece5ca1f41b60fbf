"""Leaves the model in evaluation mode.

Exercise: generate
Believes: the next training run will switch it back.
Shows: after the first sample text, training continues without dropout, unnoticed.
Hint: A function restores the state that it changes temporarily. Which mode was the model in when it
    came?
Rejected by: test_mode_is_restored
Costs: 20 %
Belief: mode_not_restored
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
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
    return ids
