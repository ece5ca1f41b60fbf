"""Keeps the number of heads where the next module replaces it.

Exercise: GroupedQueryAttention
Believes: constructor arguments can be stored on the class.
Shows: a module changes its number of heads when another one is built.
Hint: Build two modules with different numbers of heads, then call the first. Which number does it
    use?
Rejected by: test_two_objects
Costs: 20 %
"""

_GroupedQueryAttention = GroupedQueryAttention


class GroupedQueryAttention(_GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        GroupedQueryAttention.n_heads = vars(self).pop("n_heads")
        GroupedQueryAttention.n_kv_heads = vars(self).pop("n_kv_heads")
