"""Refuses a sequence of exactly max_len tokens.

Exercise: MiniTransformer
Believes: lengths run up to, and not including, max_len.
Shows: the last row of the table of positions is never used.
Hint: The model takes T tokens if T rows of the table are there. Try T = max_len.
Rejected by: test_every_length
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        if ids.shape[1] >= self.max_len:
            raise ValueError(f"{ids.shape[1]} tokens are more than max_len = {self.max_len}")
        return super().forward(ids)
