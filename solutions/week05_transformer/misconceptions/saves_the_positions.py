"""Keeps the table of positions in the state dict, among the trained weights.

Exercise: MiniTransformer
Believes: a buffer is a buffer.
Shows: weights of a model with another max_len cannot be loaded, and files hold a table that anyone can compute.
Hint: Look up what `register_buffer` takes besides the name and the tensor.
Rejected by: test_what_is_saved
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        del self.positions
        self.register_buffer("positions", sinusoidal_positions(max_len, d_model))
