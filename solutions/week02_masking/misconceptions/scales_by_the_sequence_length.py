"""Takes the scale from the number of tokens.

Exercise: SelfAttention
Believes: x.shape[1] is the embedding size.
Shows: the sharpness of the weights changes with the length of the sequence.
Hint: In x of shape (B, T, C), which axis holds the features that the dot product sums over?
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
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1) / math.sqrt(x.shape[1])
        weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
        return weights @ self.W_v(x), weights
