"""Computes the mean over the axis before the last.

Exercise: RMSNorm
Believes: Each feature is normalised over the tokens.
Shows: A token's output depends on the other tokens.
Hint: Change one token. Which outputs should change?
Rejected by: test_values
Costs: 40 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-2 if x.ndim > 1 else -1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
