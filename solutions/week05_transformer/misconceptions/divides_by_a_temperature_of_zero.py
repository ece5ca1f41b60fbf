"""Divides by the temperature even where it is 0.

Exercise: generate
Believes: a limit takes care of itself.
Shows: infinite and NaN probabilities at temperature 0, and an error from multinomial.
Hint: The limit of small temperatures is simple, but it has to be a separate case. Which token wins?
Rejected by: test_most_likely_token
Costs: 25 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            probabilities = torch.softmax(logits / temperature, dim=-1)
            chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
