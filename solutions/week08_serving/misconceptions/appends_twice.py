"""Appends keys and values to the cache twice.

Exercise: GroupedQueryAttention
Believes: One call stores, the other fetches.
Shows: Everything is in the cache twice.
Hint: `append` stores and returns in one call. How long is the cache after a prompt of 4?
Rejected by: test_what_is_appended
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length
            keys, _ = cache.append(k, v)
            _, v = cache.append(k, v)
            k, v = keys, v[:, :, : keys.shape[2]]
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
