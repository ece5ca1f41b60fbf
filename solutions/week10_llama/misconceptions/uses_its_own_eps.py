"""Uses a fixed eps, whatever eps is given.

Exercise: RMSNorm
Believes: The size of eps does not matter.
Shows: Short vectors are scaled differently.
Hint: Make two norms with different values of eps. Where does yours use them?
Rejected by: test_eps
Costs: 25 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = 1e-6

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
