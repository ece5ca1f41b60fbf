"""Hides scores with a number such as -1e9, which float16 cannot represent.

Exercise: masked_softmax
Believes: every float dtype can represent -1e9.
Shows: right in float32 and bfloat16, an error in float16; wrong where allowed scores are lower
    still.
Hint: Look up the range of float16. Can torch return the lowest number of a dtype, so that you
    need not write one down?
Rejected by: test_keeps_the_dtype
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=dim)
    return weights.masked_fill(~mask, 0.0)
