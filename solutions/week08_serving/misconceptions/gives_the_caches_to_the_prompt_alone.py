"""Hands the caches over with the prompt and leaves them out afterwards.

Exercise: generate_cached
Believes: the model keeps what it was given once.
Shows: after the first new token the model knows nothing of the text, or fails.
Hint: Where are the keys of the prompt when the second new token is computed? Who hands them to the
    model?
Rejected by: test_most_likely_tokens
Costs: 40 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(fed, caches)[:, -1]
            fed = logits.argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
            caches = None
    model.train(was_training)
    return idx
