"""Puts a ReLU where the docstring asks for a GELU.

Exercise: TransformerBlock
Believes: one activation function is as good as another.
Shows: the feed-forward layer returns other numbers everywhere.
Hint: Which three modules and a dropout make `ff`, by name?
Rejected by: test_values
Costs: 20 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.ff[1] = nn.ReLU()
