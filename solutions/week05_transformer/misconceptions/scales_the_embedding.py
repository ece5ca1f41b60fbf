"""Multiplies the embedding by the square root of its width before adding the positions.

Exercise: MiniTransformer
Believes: the paper does it (§3.4), so every transformer does.
Shows: the positions are drowned by the tokens, the more so the wider the model.
Hint: The paper scales because it ties the embedding to the head. Is that so here?
Rejected by: test_values
Costs: 25 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids) * math.sqrt(self.embed.embedding_dim) + self.positions[:tokens]
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
