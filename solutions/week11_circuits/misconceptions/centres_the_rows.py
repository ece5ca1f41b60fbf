"""Subtracts the mean of each row.

Exercise: ov_circuit
Believes: Only differences of logits matter.
Shows: Rows sum to 0.
Hint: What exactly does the head add to one logit?
Rejected by: test_values
Costs: 30 %
"""


def ov_circuit(embed, W_V, W_O, unembed):
    values = embed @ W_V.mT
    read = unembed @ W_O
    found = values @ read.mT
    return found - found.mean(dim=-1, keepdim=True)
