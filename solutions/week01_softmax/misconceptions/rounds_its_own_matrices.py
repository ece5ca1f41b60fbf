"""Rounds its own matrices to the type of the sentence and keeps them that way.

Exercise: SelfAttention
Believes: the matrices must match the sentence once and for all.
Shows: after one call in half precision, every later answer has half its digits.
Hint: Compare Wq before and after a call with float16 embeddings. Does forward have to assign to
    self?
Rejected by: test_second_call
Costs: 20 %
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        self.Wq, self.Wk, self.Wv = (W.astype(X.dtype) for W in (self.Wq, self.Wk, self.Wv))
        return scaled_dot_product_attention_numpy(X @ self.Wq, X @ self.Wk, X @ self.Wv)
