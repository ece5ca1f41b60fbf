"""Leaves the caches unused.

Exercise: Llama
Believes: Caches are used by the generating loop.
Shows: With caches, each token sees only itself.
Hint: Who appends keys and values to the caches?
Rejected by: test_pieces
Costs: 30 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None)
        return self.norm(x) @ self.embed.weight.T
