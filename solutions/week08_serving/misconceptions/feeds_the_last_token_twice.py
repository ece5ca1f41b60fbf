"""Feeds the prompt, and then its last token again.

Exercise: generate_cached
Believes: Prefill fills the caches, and then each step feeds the last token.
Shows: The last token of the prompt is in the caches twice.
Hint: The call with the prompt has answered already: its last logits are the first new token's.
Rejected by: test_most_likely_tokens
Costs: 35 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    with torch.no_grad():
        model(idx, caches)
        for _ in range(max_new_tokens):
            chosen = model(idx[:, -1:], caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx
