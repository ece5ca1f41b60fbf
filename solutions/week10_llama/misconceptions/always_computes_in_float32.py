"""Computes in float32 for every input.

Exercise: RMSNorm
Believes: float32 is precise enough.
Shows: float64 inputs lose half of their digits.
Hint: What happens to a float64 input on its way through your function?
Rejected by: test_every_dtype
Costs: 20 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
