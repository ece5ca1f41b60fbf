"""Hides the future in every call and ignores the caller's mask.

Exercise: SelfAttention
Believes: self-attention is always causal, and that is what masks are for.
Shows: weights above the diagonal are 0 in every call; what the caller hides is seen.
Hint: Which mask reaches your softmax: the caller's, or one that your forward makes?
Rejected by: test_mask
Costs: 35 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        causal = causal_mask(x.shape[-2], x.device)
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), causal)
