"""Takes the scale from the size of the values.

Exercise: scaled_dot_product_attention
Believes: queries, keys and values have the same size.
Shows: right where d_v = d, wrong elsewhere.
Hint: Which vectors form the dot product that the scale normalises?
Rejected by: test_values_of_different_size
Costs: 30 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(v.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
