"""Returns one mask per sequence without the axis that stands for the heads.

Exercise: combine_masks
Believes: (B, T, T) broadcasts to (B, H, T, T) by itself.
Shows: the shape is (B, T, T); with scores of several heads it fails, or aligns with the heads if
    B = H.
Hint: Broadcasting lines up axes from the right. With which axis of the scores would your batch
    axis meet?
Rejected by: test_shape_serves_every_head
Costs: 30 %
"""


def combine_masks(causal, padding):
    return causal & padding[:, None, :]
