"""Draws from the raw logits and ignores the temperature.

Exercise: generate
Believes: sampling is sampling.
Shows: right at temperature 1; colder and warmer texts are the same, and 0 draws too.
Hint: Generate with temperature 0 twice. What does the docstring promise there?
Rejected by: test_temperature
Costs: 30 %
"""


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            probabilities = torch.softmax(logits, dim=-1)
            chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
