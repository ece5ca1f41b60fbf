"""Copies keys and values to all query heads before it appends them.

Exercise: GroupedQueryAttention
Believes: The cache stores the tensors that the heads use.
Shows: Right outputs, but the cache is H / H_kv times too large.
Hint: For how many heads is the cache made? That is the whole point of sharing.
Rejected by: test_what_is_appended
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        each = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(each, dim=1), v.repeat_interleave(each, dim=1)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
