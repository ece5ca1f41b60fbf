"""Applies the activation to both branches.

Exercise: SwiGLU
Believes: Every layer is followed by an activation.
Shows: The output has hardly any negative contributions of `up`.
Hint: Count the activations in the formula.
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
        return self.down(F.silu(self.gate(x)) * F.silu(self.up(x)))
