"""Draws from NumPy's older generator (`np.random.seed` or `RandomState`).

Exercise: SelfAttention
Believes: np.random.seed is how one makes draws repeatable.
Shows: numbers differ from the assignment's generator, and all other random numbers
    restart.
Hint: Which generator does the docstring name? Compare the first number that it draws for a seed
with yours.
Rejected by: test_matrices
Costs: 20 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        np.random.seed(seed)
        self.Wq = np.random.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))
        self.Wk = np.random.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))
        self.Wv = np.random.normal(0.0, math.sqrt(2.0 / (d_model + dv)), (d_model, dv))

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
