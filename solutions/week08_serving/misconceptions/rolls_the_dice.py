"""Draws tokens at random.

Exercise: generate_cached
Believes: Generating is sampling.
Shows: Other tokens in every run.
Hint: Greedy means the largest logit. Which function finds its place?
Rejected by: test_most_likely_tokens
Costs: 30 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = torch.multinomial(torch.softmax(model(fed, caches)[:, -1], -1), 1)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
