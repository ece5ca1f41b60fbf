"""Always adds the token that follows the prompt, even if none is requested.

Exercise: generate_cached
Believes: The prefill gives the first token, and then max_new_tokens - 1 follow.
Shows: One token too many if none is requested.
Hint: max_new_tokens may be 0. What does your loop do then?
Rejected by: test_nothing_to_add
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    with torch.no_grad():
        fed = model(idx, caches)[:, -1].argmax(dim=-1, keepdim=True)
        idx = torch.cat([idx, fed], dim=1)
        for _ in range(max_new_tokens - 1):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
