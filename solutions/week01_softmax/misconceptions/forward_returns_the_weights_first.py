"""Returns the weights before the new embeddings.

Exercise: SelfAttention
Believes: the order of the two results is a matter of taste.
Shows: a caller who unpacks the pair gets the weights as the output.
Hint: Read the "Returns" of `forward` again.
Rejected by: test_forward
Costs: 20 %
Belief: weights_first
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        queries, keys, values = (X @ W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        output, weights = scaled_dot_product_attention_numpy(queries, keys, values)
        return weights, output
