"""Uses the values as keys and the keys as values.

Exercise: GroupedQueryAttention
Believes: both layers do the same (a slip in two similar lines).
Shows: Every output differs; a model trained with it works.
Hint: Training would not show it, loading weights does. Follow W_k(x) and W_v(x) to the attention:
    in which place does each arrive?
Rejected by: test_without_a_cache
Costs: 25 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        layers = self._modules
        layers["W_k"], layers["W_v"] = layers["W_v"], layers["W_k"]
        try:
            return super().forward(x, cache)
        finally:
            layers["W_k"], layers["W_v"] = layers["W_v"], layers["W_k"]
