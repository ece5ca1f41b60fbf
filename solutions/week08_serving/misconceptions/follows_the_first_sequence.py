"""Takes the first sequence's token for all.

Exercise: generate_cached
Believes: One token is chosen in each step.
Shows: All sequences continue with the same tokens.
Hint: Each row of the batch has separate logits. Along which axis does your argmax run?
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
            fed = model(fed, caches)[:1, -1].argmax(dim=-1, keepdim=True).expand(len(idx), 1)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
