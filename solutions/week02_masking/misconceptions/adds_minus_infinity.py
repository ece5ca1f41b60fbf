"""Adds -inf to hidden scores and clears the NaN afterwards; the gradients are not cleared.

Exercise: masked_softmax
Believes: adding -inf is the same as filling with it.
Shows: NaN in the gradient of empty rows; a row with a hidden inf or NaN becomes 0 throughout.
Hint: The forward pass is right. An addition passes its gradient on unchanged, NaN included; which
    operation stops it at hidden entries?
Rejected by: test_gradients_of_empty_rows
Costs: 30 %
"""


def masked_softmax(scores, mask, dim=-1):
    bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores + bias, dim=dim).nan_to_num(0.0)
