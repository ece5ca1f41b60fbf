"""Reshapes the input by `view`, which fails unless it is contiguous.

Exercise: GroupedQueryAttention
Believes: view and reshape are the same.
Shows: An error for inputs that are transposed views.
Hint: Linear takes any leading axes. What is the view for?
Rejected by: test_views
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        return super().forward(x.view(-1, x.shape[-1]).view(x.shape), cache)
