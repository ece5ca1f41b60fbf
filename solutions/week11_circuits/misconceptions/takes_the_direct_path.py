"""Leaves the head out.

Exercise: ov_circuit
Believes: A head passes tokens on unchanged.
Shows: The result does not depend on the weights.
Hint: Which arguments does your result not depend on?
Rejected by: test_values
Costs: 90 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    return (embed @ unembed.mT).expand(*W_V.shape[:-2], -1, -1).clone()
