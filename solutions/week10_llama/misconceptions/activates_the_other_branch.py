"""Applies the activation to `up`.

Exercise: SwiGLU
Believes: The two branches are symmetric.
Shows: Trained weights give wrong outputs.
Hint: Read the names of the two branches. Which of them decides how much passes?
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
        return self.down(self.gate(x) * F.silu(self.up(x)))
