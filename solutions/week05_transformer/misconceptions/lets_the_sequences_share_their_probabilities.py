"""Takes the softmax over the batch.

Exercise: generate
Believes: the first axis of what is left of the logits is the vocabulary.
Shows: each token is drawn as if it were as likely as it is in the other sequences; the text is
    nearly random.
Hint: What is the shape of the logits of the last token? Which of its two axes should sum to 1?
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
                probabilities = torch.softmax(logits / temperature, dim=0)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
