"""Ignores the base.

Exercise: Llama
Believes: The base is always 10000.
Shows: Models with another base rotate by wrong angles.
Hint: Where does the argument `base` go?
Rejected by: test_base
Costs: 20 %
"""

class Llama(Llama):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base)
        self.frequencies = rotary_frequencies(d_model // n_heads)
