"""Makes the head and the embedding share one matrix.

Exercise: MiniTransformer
Believes: GPT-2 does so, and it saves parameters.
Shows: embed.weight and head.weight are always equal, whatever is loaded into them.
Hint: Tying weights is a fine idea, but the docstring says something about it. Which two words?
Rejected by: test_values
Costs: 25 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        self.head.weight = self.embed.weight
