"""Applies the norm to the embedding as well.

Exercise: Llama
Believes: Every block needs normalised input.
Shows: What the norm removes is lost for all blocks.
Hint: How often is `norm` used in the docstring?
Rejected by: test_values
Costs: 35 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.norm(self.embed(ids))
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.T
