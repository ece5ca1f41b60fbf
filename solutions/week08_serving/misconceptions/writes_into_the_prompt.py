"""Writes new tokens into the caller's prompt.

Exercise: generate_cached
Believes: The prompt has been fed and is free to use.
Shows: The caller's prompt has changed after the call.
Hint: Assigning to a slice of idx writes into the caller's tensor. Which line does that?
Rejected by: test_the_callers_prompt
Costs: 25 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    caches = model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens)
    ids, fed = idx.clone(), idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            chosen = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            fed = idx[:, -1:]
            fed.copy_(chosen) if idx.stride(0) else None
            fed = chosen
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
