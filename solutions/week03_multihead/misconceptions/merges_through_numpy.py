"""Takes the heads out of autograd's graph, so that no gradient flows back.

Exercise: merge_heads
Believes: a tensor made from the same numbers is the same tensor.
Shows: the values are right; the gradient is missing.
Hint: Call `.sum().backward()` on the merged heads. What reaches x?
Rejected by: test_gradients
Costs: 25 %
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    array = x.detach().cpu().double().numpy().transpose(0, 2, 1, 3)
    merged = torch.from_numpy(array.reshape(batch, tokens, heads * size).copy())
    return merged.to(x)
