"""Uses the queries as keys, so that W_k has no effect.

Exercise: SelfAttention
Believes: queries and keys may share their projection.
Shows: symmetric scores, and no gradient for W_k.
Hint: Look at the gradient of each projection after a backward pass. Which one has none?
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
        return scaled_dot_product_attention(self.W_q(x), self.W_q(x), self.W_v(x), mask)
