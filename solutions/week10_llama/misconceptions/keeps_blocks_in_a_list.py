"""Stores the blocks where the module does not register them.

Exercise: Llama
Believes: A list holds layers as well.
Shows: The blocks are neither saved nor trained.
Hint: How many parameters does your model report?
Rejected by: test_parameters
Costs: 45 %
"""

class Llama(Llama):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base)
        blocks = list(self.blocks)
        del self.blocks
        self.blocks = blocks
