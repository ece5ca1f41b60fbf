"""Leaves eps out.

Exercise: RMSNorm
Believes: No vector is exactly zero.
Shows: A vector of zeros gives NaN.
Hint: What does your norm return for a vector of zeros?
Rejected by: test_eps
Costs: 30 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True)).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
