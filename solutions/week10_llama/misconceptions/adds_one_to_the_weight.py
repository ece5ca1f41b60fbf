"""Multiplies by 1 + weight.

Exercise: RMSNorm
Believes: The weight is a deviation from 1, as in Gemma.
Shows: With loaded weights everything is about twice as large.
Hint: What is the result for a weight of 1? Compare with the docstring.
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
        return (wide * scale).to(x.dtype) * (1 + self.weight)
