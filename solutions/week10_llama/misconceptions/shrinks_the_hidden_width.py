"""Makes the hidden layer two thirds as wide as asked.

Exercise: SwiGLU
Believes: SwiGLU uses 2/3 of d_ff to save parameters.
Shows: Weights of a trained model do not fit.
Hint: Who has already chosen d_ff, your caller or you?
Rejected by: test_parameters
Costs: 45 %
"""

class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        d_ff = max(2 * d_ff // 3, 1)
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))
