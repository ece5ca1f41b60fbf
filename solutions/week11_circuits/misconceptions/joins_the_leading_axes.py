"""Joins the leading axes.

Exercise: ov_circuit
Believes: There is at most one leading axis.
Shows: Two leading axes become one.
Hint: What is the shape of your result for weights of shape (L, H, d, C)?
Rejected by: test_heads
Costs: 20 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    found = values @ read.mT
    return found.flatten(0, -3) if found.ndim > 3 else found
