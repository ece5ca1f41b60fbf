"""Drops parts of the attention's output in addition to its weights.

Exercise: TransformerBlock
Believes: each half of a block ends in a dropout.
Shows: in training more is lost than the rate says; in evaluation nothing is seen.
Hint: Count the places where something is dropped: one inside attn, one at the end of ff. Is there a third in yours?
Rejected by: test_training_drops_in_two_places
Costs: 20 %
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.after_attention = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.after_attention(self.attn(self.ln1(x)))
        return x + self.ff(self.ln2(x))
