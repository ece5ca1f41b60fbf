"""Uses one block several times.

Exercise: Llama
Believes: [block] * n makes n blocks.
Shows: All blocks share their weights.
Hint: Change a weight of the first block. What happens to the second?
Rejected by: test_any_number_of_blocks
Costs: 40 %
"""

class Llama(Llama):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base)
        if n_layers:
            self.blocks = nn.ModuleList([self.blocks[0]] * n_layers)
