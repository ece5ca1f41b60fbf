"""Treats the scale as a constant in the backward pass.

Exercise: RMSNorm
Believes: Statistics need no gradient.
Shows: The gradients of the input are wrong.
Hint: Double one entry. Does the output of the other entries change? Then what is the
  derivative?
Rejected by: test_gradients
Costs: 30 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt().detach()
        return (wide * scale).to(x.dtype) * self.weight
