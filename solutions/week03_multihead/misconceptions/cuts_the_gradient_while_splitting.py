"""Takes x out of autograd's graph, so that no gradient flows back.

Exercise: split_heads
Believes: moving numbers is not a computation, so autograd need not record it.
Shows: the values are right; the layers in front of the split would never learn.
Hint: Call `.sum().backward()` on your result. What is the gradient of x?
Rejected by: test_gradients
Costs: 25 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.data.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2)
