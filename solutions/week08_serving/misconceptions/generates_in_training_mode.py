"""Generates in training mode if the model is in training mode.

Exercise: generate_cached
Believes: A model that is not trained is in evaluation mode.
Shows: With a model in training mode, dropout decides which tokens are generated.
Hint: Which layers compute something else during training? Who makes sure that they do not?
Rejected by: test_evaluation_mode
Costs: 20 %
"""


def generate_cached(model, idx, max_new_tokens):
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    return idx
