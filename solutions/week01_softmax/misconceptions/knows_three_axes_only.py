"""Works with exactly three axes, as if there were always one batch axis.

Exercise: scaled_dot_product_attention_numpy
Believes: attention always comes in batches of sequences.
Shows: right for a batch; an error for a matrix without a batch and for several heads.
Hint: Count the last two axes from the end, and any number of axes may precede them.
Rejected by: test_values
Costs: 30 %
"""


def scaled_dot_product_attention_numpy(q, k, v):
    weights = softmax_numpy(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1]))
    return weights @ v, weights
