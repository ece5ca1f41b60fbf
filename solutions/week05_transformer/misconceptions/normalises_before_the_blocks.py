"""Applies the last normalisation to the embeddings, before the first block.

Exercise: MiniTransformer
Believes: a normalisation belongs where the values come in.
Shows: all logits are different; what the last block returns reaches the head as it is.
Hint: Which values should `ln_f` normalise? Compare the order of your steps with the docstring.
Rejected by: test_values
Costs: 30 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.ln_f(self.embed(ids) + self.positions[:tokens])
        for block in self.blocks:
            x = block(x)
        return self.head(x)
