"""Removes the batch axis of a single sequence.

Exercise: generate_cached
Believes: One token is a number.
Shows: An error for a single sequence.
Hint: B may be 1, and it stays an axis. argmax has `keepdim`.
Rejected by: test_shortest_texts
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].squeeze().argmax(dim=-1)[:, None]
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
