"""Computes the mean of the squares in half precision.

Exercise: RMSNorm
Believes: The result is in half precision anyway.
Shows: Entries of a few hundred become 0 in float16.
Hint: Square 300 in float16. What is its square root?
Rejected by: test_large_halves
Costs: 30 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
