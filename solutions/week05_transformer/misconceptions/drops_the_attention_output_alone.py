"""Drops parts of the attention's output, but none of its weights.

Exercise: TransformerBlock
Believes: it makes no difference where dropout is applied.
Shows: in training the attention's weights are never dropped, but parts of its output are.
Hint: Look at the signature of CausalSelfAttention: what can it be given, and what does it get from you?
Rejected by: test_training_drops_in_two_places
Costs: 20 %
Belief: dropout_not_passed_on
"""

_RightTransformerBlock = TransformerBlock


class TransformerBlock(_RightTransformerBlock):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.attn = CausalSelfAttention(d_model, n_heads)
        self.after_attention = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.after_attention(self.attn(self.ln1(x)))
        return x + self.ff(self.ln2(x))
