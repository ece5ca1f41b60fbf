"""Never adds the positions.

Exercise: MiniTransformer
Believes: the causal mask already defines the order.
Shows: equal tokens get equal logits at every position.
Hint: Where in your forward does a token learn which place it has?
Rejected by: test_values
Costs: 40 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
