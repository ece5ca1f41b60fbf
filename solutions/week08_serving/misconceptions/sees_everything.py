"""Lets every position see all keys, also later ones.

Exercise: GroupedQueryAttention
Believes: The cache contains only the past, so no mask is needed.
Shows: The first positions of a prompt see the later ones.
Hint: A prompt is fed in one call. What must its first token not see?
Rejected by: test_nothing_looks_ahead
Costs: 35 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        output, _ = grouped_query_attention(q, k, v)
        return self.W_o(_merge_heads(output))
