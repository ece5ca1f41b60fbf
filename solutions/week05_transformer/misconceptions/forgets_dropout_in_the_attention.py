"""Hands the dropout rate to the feed-forward layer only.

Exercise: TransformerBlock
Believes: dropout belongs in ff, where the docstring lists it.
Shows: in training the attention's weights are never dropped.
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
