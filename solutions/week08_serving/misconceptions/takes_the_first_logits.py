"""Takes the logits of the first position that was fed.

Exercise: generate_cached
Believes: One row of logits is returned.
Shows: Right while decoding; the first new token is the one after the prompt's first.
Hint: Which position's logits predict the next token?
Rejected by: test_most_likely_tokens
Costs: 35 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, 0].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
