"""Checks the sizes with `assert`.

Exercise: GroupedQueryAttention
Believes: assert is how one checks arguments.
Shows: AssertionError instead of ValueError.
Hint: Raise a ValueError that names the number.
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 15 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        assert d_model % n_heads == 0, f"d_model = {d_model}"
        assert n_heads % n_kv_heads == 0, f"n_heads = {n_heads}"
        super().__init__(d_model, n_heads, n_kv_heads)
