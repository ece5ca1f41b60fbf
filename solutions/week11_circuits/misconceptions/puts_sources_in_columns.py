"""Puts source tokens in columns.

Exercise: ov_circuit
Believes: The order of the axes does not matter.
Shows: The result is transposed.
Hint: Which index of your result belongs to the token that is attended to?
Rejected by: test_values
Costs: 35 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    return read @ values.mT
