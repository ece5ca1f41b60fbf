"""Leaves the last norm out.

Exercise: Llama
Believes: Every block normalises for itself.
Shows: Logits grow with the number of blocks.
Hint: Which parameter of your model changes nothing?
Rejected by: test_values
Costs: 35 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return x @ self.embed.weight.T
