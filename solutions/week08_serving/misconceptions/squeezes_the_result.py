"""Removes axes of size 1 from the result.

Exercise: GroupedQueryAttention
Believes: A single token needs no axis.
Shows: (B, C) instead of (B, 1, C) while decoding.
Hint: The next layer takes (B, s, C), also where s is 1.
Rejected by: test_singleton_axes
Costs: 25 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        output = super().forward(x, cache)
        return output.squeeze(1) if x.shape[1] == 1 else output
