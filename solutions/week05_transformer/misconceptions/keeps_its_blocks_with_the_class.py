"""Keeps its list of blocks where the next model replaces it.

Exercise: MiniTransformer
Believes: constructor arguments can be stored on the class.
Shows: every model works with the blocks of the model that was built last.
Hint: Build two models, then call the first. Whose blocks does it use?
Rejected by: test_two_objects
Costs: 20 %
Belief: sizes_on_the_class
"""

_MiniTransformer = MiniTransformer


class MiniTransformer(_MiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        MiniTransformer.last = list(self.blocks)

    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.embed(ids) + self.positions[:tokens]
        for block in self.last:
            x = block(x)
        return self.head(self.ln_f(x))
