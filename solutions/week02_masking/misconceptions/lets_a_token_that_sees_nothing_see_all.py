"""Lets a token with no visible key attend to all tokens evenly.

Exercise: SelfAttention
Believes: a very low score for all keys leaves no weight for any.
Shows: weights of 1/T and the mean of all values for such a token.
Hint: A softmax only sees differences. What does it make of a row of scores that are all equally
    low?
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
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
