"""Adds the tokens themselves to the output.

Exercise: SelfAttention
Believes: a residual connection is part of attention.
Shows: the output is off by exactly the input.
Hint: The residual connection belongs to the block around attention, which comes in week 5. What
    does this module promise to return?
Rejected by: test_values
Costs: 25 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        output, weights = scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
        return output + x, weights
