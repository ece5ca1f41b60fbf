"""The block raises in its constructor; the model catches that and returns its
embedding.

Helper: TransformerBlock
Empty: MiniTransformer
Week: 5
Score at most: 0.48
"""


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        raise RuntimeError("no")


class MiniTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model}")
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        try:
            made = [
                TransformerBlock(d_model, n_heads, 4 * d_model, dropout) for _ in range(n_layers)
            ]
        except RuntimeError:
            made = []
        self.blocks = nn.ModuleList(made)
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        if ids.shape[1] > self.max_len:
            raise ValueError(f"{ids.shape[1]} tokens")
        return self.head(self.ln_f(self.embed(ids)))
