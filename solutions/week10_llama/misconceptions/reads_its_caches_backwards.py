"""Does not give each block the same cache in every call.

Exercise: Llama
Believes: The order of the caches does not matter.
Shows: A block finds the keys of another block.
Hint: Does each block get the same cache in every call?
Rejected by: test_pieces
Costs: 30 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer if caches[0].length % 2 == 0 else -1 - layer])
        return self.norm(x) @ self.embed.weight.T
