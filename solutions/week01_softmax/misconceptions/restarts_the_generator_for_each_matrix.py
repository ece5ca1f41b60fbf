"""Starts a new generator with the same seed for every matrix: they begin with equal numbers.

Exercise: SelfAttention
Believes: the seed has to be set before each draw.
Shows: Wq and Wk are the same matrix if they have the same shape, so each token mostly attends to
    tokens like itself.
Hint: Print Wq - Wk. How many generators should there be?
Rejected by: test_matrices
Costs: 30 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        def draw(fan_out):
            rng = np.random.default_rng(seed)
            return rng.normal(0.0, math.sqrt(2.0 / (d_model + fan_out)), (d_model, fan_out))

        self.Wq, self.Wk, self.Wv = draw(dk), draw(dk), draw(dv)

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
