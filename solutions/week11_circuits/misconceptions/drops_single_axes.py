"""Drops axes of size 1.

Exercise: ov_circuit
Believes: One token is a vector.
Shows: Axes of size 1 are missing.
Hint: What is the shape of your result for one head?
Rejected by: test_singleton_axes
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    return (values @ read.mT).squeeze()
