"""Uses the keys as queries and the queries as keys.

Exercise: SelfAttention
Believes: scores are products of both, so their names do not matter.
Shows: the scores are transposed: each token gets what it should have given.
Hint: Which query and key does the score in row 0, column 1 belong to? Follow the two layers from the input to this place.
Rejected by: test_values
Costs: 30 %
"""


class SelfAttention(SelfAttention):
    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.W_k(x), self.W_q(x), self.W_v(x), mask)
