"""Makes W_k and W_v as wide as W_q.

Exercise: GroupedQueryAttention
Believes: All four projections are square, as in week 3.
Shows: More parameters than asked for; nothing is saved.
Hint: Keys and values have n_kv_heads heads of d features each. How wide is that?
Rejected by: test_without_a_cache
Costs: 35 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
