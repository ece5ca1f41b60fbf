"""Projects the queries with Wk and the keys with Wq.

Exercise: SelfAttention
Believes: the two names can be exchanged.
Shows: the scores are transposed: each token gets the attention it should give.
Hint: Follow Wq through your code until it meets the scores. Does it end up in the rows?
Rejected by: test_forward
Costs: 30 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wk, self.Wq, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
