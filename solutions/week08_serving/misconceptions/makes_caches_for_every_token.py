"""Makes new caches for every token and feeds that token alone.

Exercise: generate_cached
Believes: Each step needs caches.
Shows: Every new token follows from the one before it alone.
Hint: What do new caches know of the text?
Rejected by: test_most_likely_tokens
Costs: 40 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    fed, room = idx, idx.shape[1] + max_new_tokens
    with torch.no_grad():
        for _ in range(max_new_tokens):
            caches = model.new_caches(idx.shape[0], room)
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
