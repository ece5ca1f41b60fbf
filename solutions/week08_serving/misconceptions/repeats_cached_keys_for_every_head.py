"""Repeats the cached keys and values for every query head before it attends.

Exercise: GroupedQueryAttention
Believes: Attention needs as many key heads as query heads.
Shows: Correct outputs, but each step copies the cache to n_heads heads.
Hint: How large is the largest tensor that a step makes, compared with the cache? What does
    `grouped_query_attention` expect?
Rejected by: test_keys_are_not_copied_for_each_head
Costs: 20 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        share = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
