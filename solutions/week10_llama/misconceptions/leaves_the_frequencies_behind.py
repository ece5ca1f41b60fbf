"""Leaves the frequencies on the CPU.

Exercise: Llama
Believes: model.to(device) moves everything.
Shows: An error on a GPU.
Hint: Which tensors does `model.to` move? Is your attribute among them?
Rejected by: test_device
Costs: 15 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.T
