"""Gives keys and values a head for each query head.

Exercise: LlamaAttention
Believes: All four layers have the same shape.
Shows: Weights of a trained model do not fit.
Hint: How many heads do the keys have? How wide is their projection, then?
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
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
