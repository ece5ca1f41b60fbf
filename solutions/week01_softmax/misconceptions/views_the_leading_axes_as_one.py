"""Flattens the leading axes with `view`.

Exercise: scaled_dot_product_attention
Believes: a tensor can be viewed in any shape with the same number of entries.
Shows: an error for heads that a transposition moved in front of the tokens.
Hint: In which order do the entries of a transposed tensor lie in memory? Which operations on
    matrices support leading axes as they are?
Rejected by: test_views_with_leading_axes
Costs: 20 %
Belief: reads_memory
"""


def scaled_dot_product_attention(q, k, v):
    leading = q.shape[:-2]
    q, k, v = (x.view(-1, *x.shape[-2:]) for x in (q, k, v))
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    output = weights @ v
    return output.view(*leading, *output.shape[-2:]), weights.view(*leading, *weights.shape[-2:])
