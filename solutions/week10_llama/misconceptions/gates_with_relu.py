"""Uses ReLU (ReGLU).

Exercise: SwiGLU
Believes: A gate is closed or open.
Shows: Negative gate values contribute nothing.
Hint: Which activation gives the layer the first part of its name?
Rejected by: test_values
Costs: 25 %
"""

class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.relu(self.gate(x)) * self.up(x))
