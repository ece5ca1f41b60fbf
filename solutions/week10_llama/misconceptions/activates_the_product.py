"""Applies the activation to the product.

Exercise: SwiGLU
Believes: The activation comes last, as in the old layer.
Shows: The output is too small where the branches have different signs.
Hint: What goes into the activation: one branch, or the product?
Rejected by: test_values
Costs: 40 %
"""

class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x) * self.up(x)))
