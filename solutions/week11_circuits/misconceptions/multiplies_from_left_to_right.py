"""Multiplies the four matrices from left to right.

Exercise: ov_circuit
Believes: The order of the products does not matter.
Shows: What the head writes gets C features for every token before any logit is computed.
Hint: How many columns do your intermediate results have? Which of them could have d?
Rejected by: test_cost
Costs: 15 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    return embed @ W_V.mT @ W_O.mT @ unembed.mT
