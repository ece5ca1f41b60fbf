"""Draws Wv before Wk.

Exercise: SelfAttention
Believes: the order of the draws makes no difference.
Shows: Wq is right, Wk and Wv are swapped.
Hint: A generator is a queue: who asks first gets the first numbers. In which order do the three
    ask?
Rejected by: test_matrices
Costs: 20 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        rng = np.random.default_rng(seed)
        self.Wq = rng.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))
        self.Wv = rng.normal(0.0, math.sqrt(2.0 / (d_model + dv)), (d_model, dv))
        self.Wk = rng.normal(0.0, math.sqrt(2.0 / (d_model + dk)), (d_model, dk))

    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
