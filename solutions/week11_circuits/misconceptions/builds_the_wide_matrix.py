"""Merges both weights first.

Exercise: ov_circuit
Believes: The order of the products does not matter.
Shows: The work grows with the square of the model's width.
Hint: What is the shape of your first product?
Rejected by: test_cost
Costs: 30 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    return embed @ (W_O @ W_V).mT @ unembed.mT
