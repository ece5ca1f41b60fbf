"""Takes the scale from the number of keys.

Exercise: scaled_dot_product_attention
Believes: the scale follows the length of the sequence.
Shows: the weights change their sharpness with the length of the sequence.
Hint: Which axis is summed over in a dot product: the one of positions or the one of features?
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
