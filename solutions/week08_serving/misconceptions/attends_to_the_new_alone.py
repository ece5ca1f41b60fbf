"""Appends, and attends to the new keys only.

Exercise: GroupedQueryAttention
Believes: append is for the cache, k and v are for the attention.
Shows: With a cache, nothing of the past is seen.
Hint: What does `append` return, and where do you use it?
Rejected by: test_prefill_and_decode
Costs: 35 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        if cache is not None:
            k = _split_heads(self.W_k(x), self.n_kv_heads)
            v = _split_heads(self.W_v(x), self.n_kv_heads)
            cache.append(k, v)
        return super().forward(x)
