"""Keeps the feed-forward layer where the next block replaces it.

Exercise: TransformerBlock
Believes: constructor arguments can be stored on the class.
Shows: every block works with the layer of the block that was built last.
Hint: Build two blocks, then call the first. Whose feed-forward layer does it use?
Rejected by: test_two_objects
Costs: 30 %
"""

_TransformerBlock = TransformerBlock


class TransformerBlock(_TransformerBlock):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        _TransformerBlock.last = [self.ff]

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.last[0](self.ln2(x))
