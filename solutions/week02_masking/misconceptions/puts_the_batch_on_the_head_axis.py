"""Puts the batch where the heads belong: the mask comes out as (1, B, T, T).

Exercise: combine_masks
Believes: the new axis goes in front.
Shows: the shape is (1, B, T, T); right only for a batch of one.
Hint: The entries are right. In scores of shape (B, H, T, T), which axis is the batch?
Rejected by: test_shape_serves_every_head
Costs: 35 %
"""


def combine_masks(causal, padding):
    return (causal & padding[:, None, :]).unsqueeze(0)
