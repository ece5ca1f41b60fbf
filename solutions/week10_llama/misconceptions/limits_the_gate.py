"""Limits the size of what goes into the activation.

Exercise: SwiGLU
Believes: Large exponents must be avoided.
Shows: Large inputs are cut off.
Hint: What is SiLU(50)? And your result?
Rejected by: test_large_inputs
Costs: 20 %
"""

class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x).clamp(-10, 10)) * self.up(x))
