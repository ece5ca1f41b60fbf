"""Keeps the table of positions as a plain attribute, which stays behind when the model moves.

Exercise: MiniTransformer
Believes: model.to(device) moves every tensor attribute of the model.
Shows: right on the CPU in float32; on another device, or in half precision, an error about two
    devices or two dtypes.
Hint: model.to(...) moves parameters and buffers. Which of the two is your table?
Rejected by: test_half_precision
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        del self.positions
        self.positions = sinusoidal_positions(max_len, d_model)
