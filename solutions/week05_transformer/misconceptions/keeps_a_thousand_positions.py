"""Makes a table of at most a thousand positions.

Exercise: MiniTransformer
Believes: no text is longer than that.
Shows: right up to a thousand tokens; longer sequences raise an error, although max_len allows them.
Hint: How many rows does your table have with max_len = 2000?
Rejected by: test_more_than_a_thousand_tokens
Costs: 20 %
Belief: a_thousand_is_enough
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        table = sinusoidal_positions(min(max_len, 1000), d_model)
        self.register_buffer("positions", table, persistent=False)
