"""Applies the activation after `down`.

Exercise: SwiGLU
Believes: An activation follows the last layer.
Shows: Nearly all outputs are positive.
Hint: Can your layer return a large negative number?
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
        return F.silu(self.down(self.gate(x) * self.up(x)))
