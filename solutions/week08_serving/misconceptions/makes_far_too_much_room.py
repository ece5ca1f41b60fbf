"""Requests caches for far more positions than the text can have.

Exercise: generate_cached
Believes: More room does no harm.
Shows: Every text takes the memory of the longest one that there might be.
Hint: A cache takes its memory at once. How many positions can there be at most, exactly?
Rejected by: test_caches_are_made_once
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], 1000)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
