"""Gives the projections a bias, which this module should not have.

Exercise: SelfAttention
Believes: the default of nn.Linear will do.
Shows: the state dict has W_q.bias, W_k.bias and W_v.bias in addition to the weights.
Hint: List the names in your module's `state_dict()` and compare them with the docstring. What
    does nn.Linear add by default?
Rejected by: test_parameters
Costs: 20 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size)
        self.W_k = nn.Linear(embed_size, embed_size)
        self.W_v = nn.Linear(embed_size, embed_size)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
