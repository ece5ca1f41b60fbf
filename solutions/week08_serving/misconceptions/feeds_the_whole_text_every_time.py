"""Makes new caches for every token and feeds the whole text.

Exercise: generate_cached
Believes: The model needs the whole text to go on.
Shows: Right tokens; the work per token grows with the text, as without a cache.
Hint: What do the caches contain after the prompt? What is missing from them for the next token?
Rejected by: test_every_token_is_fed_once
Costs: 45 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            caches = model.new_caches(idx.shape[0], idx.shape[1])
            chosen = model(idx, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx
