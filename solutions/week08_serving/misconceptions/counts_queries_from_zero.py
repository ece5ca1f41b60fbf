"""Takes the first query for position 0, even if the cache is filled.

Exercise: GroupedQueryAttention
Believes: A causal mask is tril.
Shows: Right without a cache; with one, a new token sees only the first key.
Hint: With 5 positions in the cache, what is the position of the first row of x?
Rejected by: test_prefill_and_decode
Costs: 40 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            k, v = cache.append(k, v)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=x.device).tril()
        output, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(_merge_heads(output))
