"""Multiplies the scores by the root of the embedding size.

Exercise: SelfAttention
Believes: embed_size**-0.5 is the root, and one divides by the root.
Shows: scores are embed_size times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
Belief: scale_upside_down
"""

class SelfAttention(nn.Module):
    def __init__(self, embed_size):
        super().__init__()
        self.W_q = nn.Linear(embed_size, embed_size, bias=False)
        self.W_k = nn.Linear(embed_size, embed_size, bias=False)
        self.W_v = nn.Linear(embed_size, embed_size, bias=False)
        self.scale = embed_size**-0.5

    def forward(self, x, mask=None):
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1) / self.scale
        weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
        return weights @ self.W_v(x), weights
