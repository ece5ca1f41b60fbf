"""Hides the future even where no mask, or another mask, was given.

Exercise: SelfAttention
Believes: self-attention is always causal.
Shows: weights above the diagonal are 0 in every call.
Hint: Who decides whether the future is visible: the module or its caller?
Rejected by: test_sees_everything_without_a_mask
Costs: 30 %
Belief: always_causal
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        causal = causal_mask(x.shape[-2], x.device)
        mask = causal if mask is None else causal & mask
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
