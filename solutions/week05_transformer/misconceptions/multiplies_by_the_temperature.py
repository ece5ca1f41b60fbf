"""Applies the temperature the wrong way round.

Exercise: generate
Believes: hotter means more.
Shows: high temperatures write the likeliest tokens, low ones write anything.
Hint: Are probabilities more even or less even if all logits grow?
Rejected by: test_temperature
Costs: 30 %
"""

@torch.no_grad()
def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.max_len :])[:, -1]
        if temperature == 0:
            chosen = logits.argmax(dim=-1, keepdim=True)
        else:
            probabilities = torch.softmax(logits * temperature, dim=-1)
            chosen = torch.multinomial(probabilities, 1, generator=generator)
        ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
