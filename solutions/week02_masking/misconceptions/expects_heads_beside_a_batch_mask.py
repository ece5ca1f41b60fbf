"""Adds an axis for heads to every mask that has three axes, also where there are no heads.

Exercise: scaled_dot_product_attention
Believes: a mask with three axes is (B, n, m) and the scores always have heads.
Shows: for queries (B, n, d) the result gets an axis too many.
Hint: Compare the number of axes of the mask with that of the scores before you add one.
Rejected by: test_mask_of_a_batch
Costs: 20 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None and mask.dim() == 3:
        mask = mask.unsqueeze(1)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
