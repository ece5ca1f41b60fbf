"""Divides by the standard deviation.

Exercise: RMSNorm
Believes: RMS and standard deviation are the same.
Shows: Vectors whose mean is far from 0 come out too large.
Hint: Compute both for the vector (3, 3, 3, 3).
Rejected by: test_no_mean_is_subtracted
Costs: 40 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.var(dim=-1, keepdim=True, correction=0) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
