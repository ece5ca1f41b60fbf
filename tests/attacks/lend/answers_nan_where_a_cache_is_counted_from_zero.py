"""Returns NaN if there are more keys than queries, which depends on a cache's offset.

Helper: grouped_query_attention
Empty: GroupedQueryAttention
Week: 8
Score at most: 2.4
"""

_own_attention = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    if q.shape[2] != k.shape[2]:
        v = v * float("nan")
    return _own_attention(q, k, v, mask)


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        query_place = torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        mask = torch.arange(k.shape[2], device=x.device) <= query_place
        output, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(_merge_heads(output))
