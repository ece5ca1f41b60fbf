"""Makes caches with room for the new tokens only.

Exercise: generate_cached
Believes: The caches contain the generated tokens.
Shows: The prompt does not fit, or takes the room of the last tokens.
Hint: Which tokens are fed in the first call, and where are their keys and values kept?
Rejected by: test_caches_are_made_once
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(fed, caches)[:, -1]
            fed = logits.argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
