"""Uses the values as keys and the keys as values.

Exercise: SelfAttention
Believes: the order of keys and values does not matter, since both are learned.
Shows: right shapes, wrong numbers; it trains, but can't load other weights.
Hint: Say aloud what each argument of your attention is, in its order, and which projection you
    hand it.
Rejected by: test_values
Costs: 30 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.W_q(x), self.W_v(x), self.W_k(x), mask)
