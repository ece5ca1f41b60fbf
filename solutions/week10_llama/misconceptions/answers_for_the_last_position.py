"""Returns the logits of the last position only.

Exercise: Llama
Believes: Only the last token is needed for generating.
Shows: Training needs the logits of all positions.
Hint: Which shape does the docstring state?
Rejected by: test_values
Costs: 35 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return (self.norm(x) @ self.embed.weight.T)[:, -1:]
