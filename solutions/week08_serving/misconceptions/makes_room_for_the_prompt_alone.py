"""Requests caches as long as the prompt.

Exercise: generate_cached
Believes: The caches hold the prompt.
Shows: They are full when the first new token is fed.
Hint: What is appended after the prefill? How many positions is that in the end?
Rejected by: test_caches_are_made_once
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1])
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
