"""The table of positions stops; the model adds none.

Helper: sinusoidal_positions
Empty: MiniTransformer
Week: 5
Score at most: 1.8
"""


def sinusoidal_positions(seq_len, d_model):
    raise RuntimeError("no")


class MiniTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model}")
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, n_heads, 4 * d_model, dropout) for _ in range(n_layers)
        )
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        if ids.shape[1] > self.max_len:
            raise ValueError(f"{ids.shape[1]} tokens")
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
