"""Has a separate output layer.

Exercise: Llama
Believes: The output layer has weights of its own, as in week 5.
Shows: Weights of the shipped model do not fit: an entry is missing.
Hint: How often does the embedding appear in the shipped state dict, and under which names?
Rejected by: test_parameters
Costs: 45 %
"""

class Llama(Llama):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__(vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids, caches=None):
        x, frequencies = self.embed(ids), self.frequencies.to(self.embed.weight.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.head(self.norm(x))
