"""Divides the logits by the temperature twice.

Exercise: generate
Believes: temperature belongs before the softmax, and once more where one draws.
Shows: below a temperature of 1 the text varies less than it should, above 1 it varies more.
Hint: Follow the logits from the model to the draw. How often do they meet the temperature?
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
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
