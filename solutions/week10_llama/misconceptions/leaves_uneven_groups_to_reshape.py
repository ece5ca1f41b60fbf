"""Does not check that the heads can be shared evenly.

Exercise: LlamaAttention
Believes: A wrong shape raises an error anyway.
Shows: The error comes late and says nothing about heads.
Hint: What does your constructor do with 4 query heads and 3 key-value heads?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 15 %
"""

class LlamaAttention(LlamaAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        nn.Module.__init__(self)
        if d_model % (2 * n_heads):
            raise ValueError(f"{d_model} and {n_heads} do not fit")
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
