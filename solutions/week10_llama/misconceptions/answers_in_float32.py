"""Returns float32 for half-precision inputs.

Exercise: RMSNorm
Believes: Once widened, the result can stay wide.
Shows: The next layer gets another dtype than its weights have.
Hint: Which dtype does the docstring state for the result?
Rejected by: test_every_dtype
Costs: 20 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return wide * scale * self.weight.to(wide.dtype)
