"""Always draws with seed 42 and ignores `seed`.

Exercise: SelfAttention
Believes: the default is the only seed in use.
Shows: right for the default; every other seed gives the same matrices again.
Hint: Make two objects with different seeds and compare their matrices.
Rejected by: test_seeds
Costs: 20 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(42)
        self.Wq = rng.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))
        self.Wk = rng.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))
        self.Wv = rng.normal(0.0, math.sqrt(2.0 / (d_model + dv)), (d_model, dv))

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
