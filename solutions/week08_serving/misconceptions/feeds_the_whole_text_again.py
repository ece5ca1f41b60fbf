"""Feeds the whole text into caches that already contain it.

Exercise: generate_cached
Believes: The model skips what it knows.
Shows: The text is in the caches several times, so that they need much more room and the tokens
    differ.
Hint: How long are the caches after the second call? Feed only the tokens that they lack.
Rejected by: test_most_likely_tokens
Costs: 40 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    room = (idx.shape[1] + max_new_tokens) * (max_new_tokens + 1)
    caches = model.new_caches(idx.shape[0], room)
    with torch.no_grad():
        for _ in range(max_new_tokens):
            chosen = model(idx, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx
