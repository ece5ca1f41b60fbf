"""Drops parts of the embedded input, before the first block.

Exercise: MiniTransformer
Believes: GPT-2 has a dropout there, so this model has one too.
Shows: in training whole features of tokens and positions are missing; in evaluation nothing is seen.
Hint: The docstring says where dropout falls in this model. Is it only there in yours?
Rejected by: test_training_with_everything_dropped
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        tokens = ids.shape[1]
        if tokens > self.max_len:
            raise ValueError(f"{tokens} tokens are more than max_len = {self.max_len}")
        x = self.dropout(self.embed(ids) + self.positions[:tokens])
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
