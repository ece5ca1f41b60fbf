"""Divides by the mean of the squares, without a root.

Exercise: RMSNorm
Believes: The mean of the squares is the scale.
Shows: Large vectors become small, and small ones large.
Hint: Double the input. What happens to the output, and what should happen?
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
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).reciprocal()
        return (wide * scale).to(x.dtype) * self.weight
