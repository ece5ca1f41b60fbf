"""Makes the four layers with a bias.

Exercise: GroupedQueryAttention
Believes: A Linear has a bias.
Shows: Parameters that are not asked for.
Hint: `nn.Linear` has a bias by default.
Rejected by: test_without_a_cache
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        for name in ("W_q", "W_k", "W_v", "W_o"):
            layer = getattr(self, name)
            setattr(self, name, nn.Linear(layer.in_features, layer.out_features))
