"""Reads the rows of the mask as keys and its columns as queries.

Exercise: SelfAttention
Believes: masks are keys by queries.
Shows: with a causal mask each token sees only itself and the future.
Hint: The last two axes of the scores are queries and keys, in this order. Which order does the
    mask have?
Rejected by: test_mask
Costs: 30 %
Belief: mask_turned_over
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        turned = None if mask is None else mask.transpose(-2, -1)
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), turned)
