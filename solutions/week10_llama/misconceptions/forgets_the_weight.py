"""Leaves the weight out of the result.

Exercise: RMSNorm
Believes: The weight is 1 anyway.
Shows: A trained norm gives the same as a new one.
Hint: Which parameter does training change? Where does it enter the result?
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
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype)
