"""Uses the embedding without gradients for the output.

Exercise: Llama
Believes: The embedding is already trained at the input.
Shows: The embedding learns from one of its two uses.
Hint: How many uses of the embedding contribute to its gradient?
Rejected by: test_gradients
Costs: 25 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return self.norm(x) @ self.embed.weight.detach().T
