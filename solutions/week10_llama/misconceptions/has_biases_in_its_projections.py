"""Gives the projections a bias.

Exercise: LlamaAttention
Believes: Linear layers have a bias.
Shows: Weights of a trained model do not fit: entries are missing.
Hint: Which parameters does the docstring name?
Rejected by: test_without_a_cache
Costs: 45 %
"""

class LlamaAttention(LlamaAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        nn.Module.__init__(self)
        if d_model % (2 * n_heads):
            raise ValueError(f"{d_model} and {n_heads} do not fit")
        if n_heads % n_kv_heads:
            raise ValueError(f"{n_heads} and {n_kv_heads} do not fit")
        self.d = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d)
        self.W_o = nn.Linear(d_model, d_model)
