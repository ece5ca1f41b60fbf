"""Draws from torch's global generator and ignores the given one.

Exercise: generate
Believes: torch.manual_seed is the way to repeat an experiment.
Shows: the same generator gives different texts, and drawing disturbs everyone else's random
    numbers.
Hint: Follow the argument `generator`: where does it have to arrive?
Rejected by: test_drawn_tokens
Costs: 20 %
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
                chosen = torch.multinomial(probabilities, 1)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
