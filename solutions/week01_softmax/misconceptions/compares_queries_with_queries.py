"""Uses the queries as keys.

Exercise: SelfAttention
Believes: what a token looks for is what it offers.
Shows: the scores are symmetric, and each token scores highest with tokens like itself.
Hint: Print the scores and their transpose. Must what token i looks for in j be what j looks for in
    i?
Rejected by: test_forward
Costs: 35 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wq, self.Wv))
        return scaled_dot_product_attention_numpy(queries, keys, values)
