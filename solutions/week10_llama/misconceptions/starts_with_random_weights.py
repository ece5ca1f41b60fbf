"""Draws the initial weight.

Exercise: RMSNorm
Believes: Parameters are always drawn.
Shows: A new norm rescales the features at random.
Hint: What should an untrained norm do to the sizes of the features?
Rejected by: test_weight_starts_at_one
Costs: 20 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
