"""Masks what makes the output, but returns the weights without the mask.

Exercise: scaled_dot_product_attention
Believes: the weights to look at are those of the plain softmax.
Shows: the output is right; the weights show attention to hidden keys.
Hint: The output is right. Multiply the weights you return by the values: do you get that output?
Rejected by: test_weights_belong_to_the_output
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return (weights if mask is None else masked_softmax(scores, mask)) @ v, weights
