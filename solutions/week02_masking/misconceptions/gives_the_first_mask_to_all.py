"""Uses the mask of the first sequence for the whole batch.

Exercise: SelfAttention
Believes: one mask is enough for a batch.
Shows: right for a mask (T, T); with a mask per sequence only the first is right.
Hint: Sequences of a batch may differ in their padding. What becomes of the second sequence's
    mask?
Rejected by: test_mask
Costs: 25 %
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        if mask is not None:
            mask = mask.reshape(-1, *mask.shape[-2:])[0]
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x), mask)
