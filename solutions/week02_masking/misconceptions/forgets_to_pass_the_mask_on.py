"""Takes a mask that has no effect on the result.

Exercise: SelfAttention
Believes: the attention function knows about the mask.
Shows: the same answer with and without a mask.
Hint: Follow `mask` from the signature on. Where does it go next?
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
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x))
