"""Collects the tokens in a tensor that it makes on the CPU.

Exercise: generate_cached
Believes: Ids are small, so they may live anywhere.
Shows: An error, or a result on the CPU, for a model on a GPU.
Hint: Make new tensors on the prompt's device.
Rejected by: test_device
Costs: 15 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    total = idx.shape[1] + max_new_tokens
    caches = model.new_caches(idx.shape[0], total)
    ids = torch.zeros(idx.shape[0], total, dtype=idx.dtype)
    ids[:, : idx.shape[1]] = idx
    fed = idx
    with torch.no_grad():
        for place in range(idx.shape[1], total):
            fed = model(fed, caches)[:, -1].argmax(dim=-1, keepdim=True)
            ids[:, place : place + 1] = fed
    model.train(was_training)
    return ids
