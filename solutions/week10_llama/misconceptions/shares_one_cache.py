"""Uses the first cache for all blocks.

Exercise: Llama
Believes: A cache belongs to a sequence.
Shows: With caches, blocks read each other's keys.
Hint: How many caches does new_caches make? How many do you use?
Rejected by: test_pieces
Costs: 30 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[0])
        return self.norm(x) @ self.embed.weight.T
