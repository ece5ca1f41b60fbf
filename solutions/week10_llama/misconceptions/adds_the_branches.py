"""Adds the branches.

Exercise: SwiGLU
Believes: Two branches are joined by adding.
Shows: Nothing is gated.
Hint: If the gate is 0 for a feature, how much of `up` should pass?
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
        return self.down(F.silu(self.gate(x)) + self.up(x))
