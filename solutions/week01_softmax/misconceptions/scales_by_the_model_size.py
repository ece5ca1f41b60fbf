"""Scales by the root of the embedding size, although the queries are shorter than that.

Exercise: SelfAttention
Believes: the d under the root is the size of a token.
Shows: the weights are more even than they should be wherever dk is smaller than d_model.
Hint: How many terms has the dot product of a query and a key?
Rejected by: test_forward
Costs: 30 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        weights = softmax_numpy(queries @ np.swapaxes(keys, -1, -2) / math.sqrt(X.shape[-1]))
        return weights @ values, weights
