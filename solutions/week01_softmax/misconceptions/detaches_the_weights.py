"""Cuts the returned weights out of the graph.

Exercise: scaled_dot_product_attention
Believes: the weights are only for looking at.
Shows: right values; a loss on the weights reaches neither queries nor keys.
Hint: A caller may want to train on the weights. Who should decide to detach them?
Rejected by: test_gradients
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v):
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    return weights @ v, weights.detach()
