"""Gives `qkv` and `proj` a bias.

Exercise: CausalSelfAttention
Believes: a Linear has a bias unless there is a reason against it.
Shows: two parameters too many; weights of the right module do not load.
Hint: Compare the names in your state_dict with the class's docstring.
Rejected by: test_values
Costs: 20 %
"""


class CausalSelfAttention(CausalSelfAttention):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
