"""Mixes the tokens themselves, without a projection.

Exercise: SelfAttention
Believes: only queries and keys need a projection.
Shows: right weights, wrong output; no gradient for W_v.
Hint: The weights are right. What does each token contribute to the mix: itself, or a projection
    of itself?
Rejected by: test_values
Costs: 35 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), x, mask)
