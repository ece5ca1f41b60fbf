"""Keeps the first mask of each shape and uses it for all that follow.

Exercise: MultiHeadAttention
Believes: a mask of this shape was seen before, so it is the same mask.
Shows: a second mask of the same shape is ignored.
Hint: Call the module twice with two different masks of one shape. What does it keep from the first
    call, and does it have to?
Rejected by: test_masks_of_several_calls
Costs: 20 %
"""

_MultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        if mask is not None:
            kept = getattr(self, "mask", None)
            if kept is None or kept.shape != mask.shape or kept.device != mask.device:
                self.mask = mask
            mask = self.mask
        return super().forward(query, key, value, mask)
