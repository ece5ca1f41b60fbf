"""Reads the logits off before the last normalisation.

Exercise: MiniTransformer
Believes: each block has normalised already.
Shows: logits have a different scale, and `ln_f` gets no gradient.
Hint: In a pre-norm block, is what comes out normalised? Where is ln_f used?
Rejected by: test_values
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids) + self.positions[:tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(x)
