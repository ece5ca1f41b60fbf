"""Adds the positions again before every block.

Exercise: MiniTransformer
Believes: each block needs the positions of the tokens.
Shows: right with a single block; with more of them the positions count more and more.
Hint: How often are the positions added in your forward, with three blocks?
Rejected by: test_values
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x + self.positions[:tokens])
        return self.head(self.ln_f(x))
