"""Blends the embeddings themselves, without a projection.

Exercise: SelfAttention
Believes: the values are the tokens.
Shows: right weights; outputs of size d_model instead of dv.
Hint: Which of your three projections has no effect on the output?
Rejected by: test_forward
Costs: 35 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk))
        return scaled_dot_product_attention_numpy(queries, keys, X)
