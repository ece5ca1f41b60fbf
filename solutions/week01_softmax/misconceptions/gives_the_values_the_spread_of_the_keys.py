"""Uses one spread for all three matrices, although the values may have a different size.

Exercise: SelfAttention
Believes: fan_out is dk everywhere.
Shows: Wq and Wk are right; Wv is off by a factor wherever dv differs from dk.
Hint: What is the fan_out of Wv?
Rejected by: test_matrices
Costs: 20 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)
        spread = math.sqrt(2.0 / (d_model + dk))
        self.Wq = rng.normal(0.0, spread, (d_model, dk))
        self.Wk = rng.normal(0.0, spread, (d_model, dk))
        self.Wv = rng.normal(0.0, spread, (d_model, dv))

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
