"""Adds eps outside the root.

Exercise: RMSNorm
Believes: eps only prevents a division by zero.
Shows: Short vectors are scaled differently, and more so the larger eps is.
Hint: Set eps to 2 and compute one vector by hand. What is under the root?
Rejected by: test_eps
Costs: 25 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = 1 / (wide.square().mean(dim=-1, keepdim=True).sqrt() + self.eps)
        return (wide * scale).to(x.dtype) * self.weight
