"""Returns after the first new token.

Exercise: generate
Believes: the last line of a function is run once, wherever it is indented.
Shows: at most one new token, and None if none is asked for; the model stays in evaluation mode unless the mode is restored first.
Hint: Ask for three new tokens. How often does your loop run?
Rejected by: test_most_likely_token
Costs: 35 %
Belief: returns_in_the_loop
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
            model.train(was_training)
            return ids
