"""Draws new matrices in each call, so that nothing could ever be learned.

Exercise: SelfAttention
Believes: random projections are part of the forward pass.
Shows: the same sentence gets other weights in the second call.
Hint: Call forward twice on the same sentence. When are the matrices drawn, and how often?
Rejected by: test_second_call
Costs: 30 %
"""


class SelfAttention:
    def __init__(self, d_model, dk, dv, seed=42):
        self.shapes = ((d_model, dk), (d_model, dk), (d_model, dv))
        self.rng = np.random.default_rng(seed)
        self.calls = 0
        self.draw()

    def draw(self):
        self.Wq, self.Wk, self.Wv = (
            self.rng.normal(0.0, math.sqrt(2.0 / sum(shape)), shape) for shape in self.shapes
        )

    def forward(self, X):
        if self.calls:
            self.draw()
        self.calls += 1
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
