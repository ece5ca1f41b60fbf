"""Computes one mean for the whole tensor.

Exercise: RMSNorm
Believes: mean() without a dimension is the mean.
Shows: The output of a token depends on the other tokens.
Hint: Change one token of a batch. Which outputs should change?
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
        scale = (wide.square().mean() + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
