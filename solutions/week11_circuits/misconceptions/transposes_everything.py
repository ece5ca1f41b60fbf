"""Handles weights of two axes only.

Exercise: ov_circuit
Believes: Weights have two axes.
Shows: An error or a mix of heads for weights with leading axes.
Hint: What does your function do for weights of shape (H, d, C)?
Rejected by: test_heads
Costs: 30 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.permute(*range(W_V.ndim)[::-1])
    read = unembed @ W_O
    return values @ read.mT
