"""Multiplies the embedding by the root of d_model.

Exercise: Llama
Believes: Vaswani et al. scale it.
Shows: The first block gets too large an input.
Hint: What does the docstring say about the embedding?
Rejected by: test_values
Costs: 20 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids) * self.embed.embedding_dim ** 0.5
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.T
