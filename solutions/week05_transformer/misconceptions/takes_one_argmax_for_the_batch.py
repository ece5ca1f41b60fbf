"""Takes one argmax over the logits of the whole batch.

Exercise: generate
Believes: argmax works row by row.
Shows: right for a single sequence; an error about sizes for several at temperature 0.
Hint: Print the shape of your most likely token for two sequences. How many tokens do you need?
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
            if temperature == 0:
                chosen = logits.argmax(keepdim=True) % logits.shape[-1]
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
