"""Returns the output in float32 for any dtype of x.

Exercise: GroupedQueryAttention
Believes: Attention is computed in float32, so that is what comes out.
Shows: float32 for half precision and for float64.
Hint: Computing in a wider type is fine. In which dtype does the caller want the result?
Rejected by: test_every_dtype
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        return super().forward(x, cache).float()
