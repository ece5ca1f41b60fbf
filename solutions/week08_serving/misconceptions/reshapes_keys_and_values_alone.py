"""Splits the heads of the queries by a transpose, those of keys and values by a reshape alone.

Exercise: GroupedQueryAttention
Believes: A reshape to (B, H_kv, s, d) gives each head its features.
Shows: Right for one position at a time; otherwise keys and values contain parts of other
    positions, even later ones.
Hint: For a batch of one, two positions and two heads: which numbers of a row of W_k(x) belong to
    head 0, and where does reshape put them?
Rejected by: test_without_a_cache
Costs: 35 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, new, width = x.shape
        d = width // self.n_heads
        q = _split_heads(self.W_q(x), self.n_heads)
        k = self.W_k(x).reshape(batch, self.n_kv_heads, new, d)
        v = self.W_v(x).reshape(batch, self.n_kv_heads, new, d)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        query_place = start + torch.arange(new, device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
