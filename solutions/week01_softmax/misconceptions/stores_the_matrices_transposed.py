"""Stores the matrices transposed, as torch's Linear does.

Exercise: SelfAttention
Believes: weight matrices are always (outputs, inputs).
Shows: matrices of the wrong shape, filled in a different order.
Hint: Which shape does the docstring give for Wq, and which product follows from it?
Rejected by: test_matrices
Costs: 20 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)
        self.Wq, self.Wk, self.Wv = (
            rng.normal(0.0, math.sqrt(2.0 / (d_model + out)), (out, d_model))
            for out in (dk, dk, dv)
        )

    def forward(self, X):
        queries, keys, values = (X @ W.T.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
