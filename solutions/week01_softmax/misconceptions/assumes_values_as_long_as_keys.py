"""Assumes that values have as many entries as queries.

Exercise: scaled_dot_product_attention
Believes: queries, keys and values have the same size.
Shows: right where values are as long as keys, an error elsewhere.
Hint: How many numbers does a value have, and how many an output? Which argument determines it?
Rejected by: test_values_of_different_size
Costs: 20 %
"""

def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    output = torch.zeros_like(q)
    output = output + weights @ v
    return output, weights
