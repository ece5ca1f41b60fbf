"""Returns float64, the dtype of its matrices, for any dtype of the sentence.

Exercise: SelfAttention
Believes: NumPy keeps the type of the left factor.
Shows: right values, but float32 embeddings give a float64 result.
Hint: Multiply a float32 matrix by a float64 one. What comes out, and what did the caller hand in?
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_answer
"""


class SelfAttention(SelfAttention):
    def forward(self, X):
        return scaled_dot_product_attention_numpy(X @ self.Wq, X @ self.Wk, X @ self.Wv)
