"""Builds one block and puts it into the list n_layers times.

Exercise: MiniTransformer
Believes: [block] * n makes n blocks.
Shows: all layers share their weights; with one layer nothing is seen.
Hint: How many parameters does your model gain when n_layers goes from 1 to 2? Multiplying a list copies references.
Rejected by: test_any_number_of_blocks
Costs: 30 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        block = TransformerBlock(d_model, n_heads, 4 * d_model, dropout)
        self.blocks = nn.ModuleList([block] * n_layers)
