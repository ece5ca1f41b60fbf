"""Returns log-probabilities.

Exercise: Llama
Believes: The result is a distribution over tokens.
Shows: Right order of the tokens, but no logits.
Hint: Which function is applied to your result later, in sampling and in the loss?
Rejected by: test_values
Costs: 35 %
"""

class Llama(Llama):
    def forward(self, ids, caches=None):
        x = self.embed(ids)
        frequencies = self.frequencies.to(x.device)
        for layer, block in enumerate(self.blocks):
            x = block(x, frequencies, None if caches is None else caches[layer])
        return (self.norm(x) @ self.embed.weight.T).log_softmax(-1)
