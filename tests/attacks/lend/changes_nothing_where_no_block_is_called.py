"""A block that returns its input, in a model that calls no block.

Helper: TransformerBlock
Empty: MiniTransformer
Week: 5
Score at most: 0.5
"""


class TransformerBlock(TransformerBlock):
    def forward(self, x):
        return x


class MiniTransformer(MiniTransformer):
    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        for block in self.blocks:
            TransformerBlock  # named, so that it looks as if it were called
        return self.head(self.ln_f(self.embed(ids) + self.positions[:tokens]))
