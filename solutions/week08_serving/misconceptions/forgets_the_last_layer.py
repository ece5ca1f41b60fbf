"""Returns the merged heads without W_o.

Exercise: GroupedQueryAttention
Believes: Merging the heads is the last step.
Shows: Every output differs.
Hint: Which of your four layers is never called?
Rejected by: test_without_a_cache
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        layer, self._modules["W_o"] = self.W_o, nn.Identity()
        try:
            return super().forward(x, cache)
        finally:
            self._modules["W_o"] = layer
