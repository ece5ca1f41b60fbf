"""Uses the mask of the last call if none is given.

Exercise: SelfAttention
Believes: a mask is set once and applies from then on.
Shows: a call without a mask is masked like the one before it.
Hint: Call the module with a mask, and then without one. Which mask does the second call use?
Rejected by: test_masks_of_several_calls
Costs: 20 %
"""

_SelfAttention = SelfAttention


class SelfAttention(_SelfAttention):
    def forward(self, x, mask=None):
        kept = getattr(self, "mask", None)
        if mask is not None:
            self.mask = mask
        elif kept is not None and kept.shape[-1] == x.shape[1]:
            mask = kept
        return super().forward(x, mask)
