"""Uses the mask of the last call if none is given.

Exercise: MultiHeadAttention
Believes: a mask is set once and applies from then on.
Shows: a call without a mask is masked like the one before it.
Hint: Call the module with a mask, and then without one. Which mask does the second call use?
Rejected by: test_masks_of_several_calls
Costs: 20 %
"""

_MultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        kept = getattr(self, "mask", None)
        keys = query if key is None else key
        if mask is not None:
            self.mask = mask
        elif kept is not None and kept.shape == (query.shape[1], keys.shape[1]):
            mask = kept
        return super().forward(query, key, value, mask)
