"""Uses the tanh approximation of the GELU.

Exercise: TransformerBlock
Believes: nn.GELU(approximate='tanh') is the same function, only faster.
Shows: differences in the fourth digit.
Hint: GPT-2 was trained with an approximation; what does nn.GELU compute by default?
Rejected by: test_values
Costs: 15 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.ff[1] = nn.GELU(approximate="tanh")
