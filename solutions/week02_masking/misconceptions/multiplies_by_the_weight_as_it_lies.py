"""Multiplies the tokens by each weight matrix as it is stored, without transposing it.

Exercise: SelfAttention
Believes: nn.Linear computes x W.
Shows: right shapes, wrong numbers; the mistake does not show if the matrices are symmetric.
Hint: Look up what nn.Linear computes, and the shape in which it stores its weight. Square
    matrices hide the difference.
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
        return scaled_dot_product_attention(
            x @ self.W_q.weight, x @ self.W_k.weight, x @ self.W_v.weight, mask
        )
