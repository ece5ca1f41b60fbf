"""Returns NaN for a token with no visible key.

Exercise: SelfAttention
Believes: a softmax of -inf is always zero.
Shows: NaN for such a token, and in the gradients of all three projections.
Hint: One NaN row reaches every projection in the backward pass. You have a softmax that knows
    what to do with such a row.
Rejected by: test_token_that_sees_nothing
Costs: 20 %
Belief: empty_rows
"""


class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
