"""Does not read the attribute `frequencies` when it runs.

Exercise: Llama
Believes: They follow from the sizes.
Shows: Scaled frequencies in the attribute are ignored.
Hint: Assign other frequencies to your model. Does anything change?
Rejected by: test_other_frequencies
Costs: 25 %
"""

class Llama(Llama):
    def __init__(self, *sizes, base=10000.0, **more):
        super().__init__(*sizes, base=base, **more)
        self._base = base

    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = rotary_frequencies(self.cache_shape[1], self._base).to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.T
