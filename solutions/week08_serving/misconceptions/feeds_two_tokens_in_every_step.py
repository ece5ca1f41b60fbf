"""Feeds the last two tokens in every step after the prompt.

Exercise: generate_cached
Believes: The new token needs the one before it.
Shows: From the second step on, a token that was fed before is fed and cached again.
Hint: After the prompt and one step, how many positions do your caches contain? How many tokens has
    the sequence?
Rejected by: test_every_token_is_fed_once
Costs: 40 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(fed, caches)[:, -1]
            idx = torch.cat([idx, logits.argmax(dim=-1, keepdim=True)], dim=1)
            fed = idx[:, -2:]
    model.train(was_training)
    return idx
