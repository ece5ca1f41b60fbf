"""Uses the variance as the standard deviation of the draws.

Exercise: SelfAttention
Believes: the second argument of `normal` is the variance.
Shows: the entries of all matrices are too small.
Hint: What is the standard deviation of the entries that you draw? Compute it, and compare it with
the docstring's.
Rejected by: test_matrices
Costs: 25 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)
        self.Wq = rng.normal(0.0, 2.0 / (d_model + dk), (d_model, dk))
        self.Wk = rng.normal(0.0, 2.0 / (d_model + dk), (d_model, dk))
        self.Wv = rng.normal(0.0, 2.0 / (d_model + dv), (d_model, dv))

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
