"""Subtracts the mean, as LayerNorm does.

Exercise: RMSNorm
Believes: RMSNorm is LayerNorm without a bias.
Shows: A vector with a common shift loses the shift.
Hint: What does the name say about the statistic that is used? Is there a second one?
Rejected by: test_no_mean_is_subtracted
Costs: 40 %
"""

class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide - wide.mean(dim=-1, keepdim=True)
        scale = (wide.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt()
        return (wide * scale).to(x.dtype) * self.weight
