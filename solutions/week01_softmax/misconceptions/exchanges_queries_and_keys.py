"""Exchanges queries and keys, or the matrices that make them.

Exercise: SelfAttention
Believes: the two names can be exchanged.
Shows: the scores are transposed: each token gets the attention it should give.
Hint: Follow Wq from its draw to the scores. Is it drawn first, and does it end up in the rows?
Rejected by: test_forward
Costs: 30 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wk, self.Wq, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
