"""Multiplies the branches without an activation.

Exercise: SwiGLU
Believes: The product is nonlinear enough.
Shows: A large input grows with its square.
Hint: Is there a place where your layer is not a polynomial?
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
        return self.down(self.gate(x) * self.up(x))
