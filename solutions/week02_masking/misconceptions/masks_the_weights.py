"""Zeroes the weights of hidden keys after the softmax, so that each query's weights no longer sum to 1.

Exercise: scaled_dot_product_attention
Believes: hiding a key means to zero its weight.
Shows: outputs that are too small wherever something is hidden.
Hint: Add up a row of weights with a mask. Where in the formula must the mask come in?
Rejected by: test_values
Costs: 30 %
Belief: masks_after_the_softmax
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = (
        torch.softmax(scores, dim=-1) if mask is None else torch.softmax(scores, dim=-1) * mask
    )
    return weights @ v, weights
