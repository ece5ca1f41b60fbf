"""Lets the frequencies be converted to half precision.

Exercise: Llama
Believes: A buffer moves with the model, so it is the right place.
Shows: In half precision, far positions are rotated by wrong angles.
Hint: What is the dtype of your frequencies after model.half()?
Rejected by: test_frequencies_stay_float32
Costs: 25 %
"""

class Llama(Llama):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base)
        table = self.frequencies
        del self.frequencies
        self.register_buffer("frequencies", table, persistent=False)
