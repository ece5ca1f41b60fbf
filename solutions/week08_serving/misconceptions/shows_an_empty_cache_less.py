"""Hides a position from itself if there is a cache.

Exercise: GroupedQueryAttention
Believes: A token looks at what came before it, and that is in the cache.
Shows: With a cache, a position does not see itself; the first one sees nothing.
Hint: Causal means j ≤ i: a position sees itself, with a cache and without.
Rejected by: test_an_empty_cache_changes_nothing
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        if cache is None:
            return super().forward(x)
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = cache.length
        k, v = cache.append(k, v)
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place < query_place)
        return self.W_o(_merge_heads(output))
