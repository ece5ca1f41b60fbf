"""Uses z · sigmoid(1.702 z).

Exercise: SwiGLU
Believes: Swish has the constant 1.702.
Shows: Outputs differ a little from the right ones.
Hint: Compute your activation at z = 1 and compare with 1 · sigmoid(1).
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
        return self.down(self.gate(x) * torch.sigmoid(1.702 * self.gate(x)) * self.up(x))
