"""Projects the keys with the matrix of the queries.

Exercise: SelfAttention
Believes: what a token looks for is what it offers.
Shows: scores are symmetric, and every token finds its own likes.
Hint: Print the scores and their transpose. Should "who interests me" be the same as "whom do I
    interest"?
Rejected by: test_forward
Costs: 40 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wq, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
