"""Gives the projections a bias.

Exercise: LSHAttention
Believes: A Linear layer has a bias.
Shows: The state dict has entries that do not belong there.
Hint: The docstring says which projections there are and what they do without.
Rejected by: test_values
Costs: 20 %
"""


class LSHAttention(LSHAttention):
    def __init__(self, d_model, num_heads, bucket_size=64, n_hashes=4, causal=False):
        super().__init__(d_model, num_heads, bucket_size, n_hashes, causal)
        self.W_qk = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
