"""Gives the last block no cache.

Exercise: Llama
Believes: The last block needs no cache.
Shows: The last block sees only the new tokens.
Hint: Feed a sequence in two chunks. Which block forgets the first one?
Rejected by: test_pieces
Costs: 30 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None or layer == len(self.blocks) - 1 else caches[layer])
        return self.norm(x) @ self.embed.weight.T
