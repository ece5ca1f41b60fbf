"""Checks d_model against n_heads, and not n_heads against n_kv_heads.

Exercise: GroupedQueryAttention
Believes: Any number of key-value heads will do.
Shows: 16 heads that should share 3 are accepted.
Hint: H / H_kv heads share one. What if that is not an integer?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        nn.Module.__init__(self)
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model}")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        width = n_kv_heads * (d_model // n_heads)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, width, bias=False)
        self.W_v = nn.Linear(d_model, width, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
