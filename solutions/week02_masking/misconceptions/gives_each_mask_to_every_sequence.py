"""Adds a head axis to a mask per sequence, so that every mask is applied to every sequence.

Exercise: SelfAttention
Believes: a mask (B, T, T) always needs an axis for the heads.
Shows: with such a mask the results get the shape (B, B, T, …).
Hint: Write the shape of the scores above the shape of your mask, right-aligned. Does this module
    have heads?
Rejected by: test_mask
Costs: 20 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
