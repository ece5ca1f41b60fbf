"""Computes an output that does not depend on the layer `up`.

Exercise: SwiGLU
Believes: `gate` and `down` are the two layers of week 5.
Shows: The layer `up` never learns.
Hint: Where does the output depend on `up`?
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
        return self.down(F.silu(self.gate(x)))
