"""Feeds the prompt one token at a time.

Exercise: generate_cached
Believes: A cache is filled token by token.
Shows: Right tokens; but as many calls as the prompt is long, where one would do.
Hint: The whole prompt is available. What does a processor like better, one call or a thousand?
Rejected by: test_every_token_is_fed_once
Costs: 30 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    with torch.no_grad():
        for place in range(idx.shape[1] + max_new_tokens - 1):
            logits = model(idx[:, place : place + 1], caches)[:, -1]
            if place >= idx.shape[1] - 1:
                idx = torch.cat([idx, logits.argmax(dim=-1, keepdim=True)], dim=1)
    model.train(was_training)
    return idx[:, : idx.shape[1]]
