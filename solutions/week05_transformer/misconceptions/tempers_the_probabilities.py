"""Draws from the same probabilities at every temperature above 0.

Exercise: generate
Believes: before or after the softmax makes no difference.
Shows: multinomial normalises its weights, so the temperature has no effect at all.
Hint: Draw with temperature 0.1 and with 10 from the same generator. Why do you get the same text?
Rejected by: test_temperature
Costs: 35 %
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
                probabilities = torch.softmax(logits, dim=-1) / temperature
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
