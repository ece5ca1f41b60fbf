"""Creates a tensor on the CPU if no mask is given.

Exercise: scaled_dot_product_attention
Believes: new tensors are made where they are needed.
Shows: right on the CPU; an error about two devices elsewhere.
Hint: New tensors are made on the CPU unless you say otherwise. Do you need a mask at all if none
    was given?
Rejected by: test_device
Costs: 10 %
Belief: device_of_masks
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool)
    weights = masked_softmax(scores, mask)
    return weights @ v, weights
