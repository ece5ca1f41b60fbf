"""Accepts heads of odd width.

Exercise: LlamaAttention
Believes: The rotation will complain.
Shows: An odd head is refused only when it is used.
Hint: Can every feature of a head of width 3 be paired? When should the user learn about it?
Rejected by: test_refuses_odd_heads
Costs: 15 %
"""

class LlamaAttention(LlamaAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        nn.Module.__init__(self)
        if d_model % n_heads:
            raise ValueError(f"{d_model} and {n_heads} do not fit")
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} and {n_kv_heads} do not fit")
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
