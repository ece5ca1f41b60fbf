"""Divides by the length of the vector.

Exercise: RMSNorm
Believes: Normalising means making the length 1.
Shows: All entries are too small by the root of d_model.
Hint: How large is the mean of the squares of your result, for a weight of 1?
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
        scale = (wide.square().sum(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
