"""Lets positions see later ones of the same call when there is a cache.

Exercise: GroupedQueryAttention
Believes: The length of the cache is the place of the first new token, whenever it is asked for.
Shows: Right token by token; a piece of several positions looks ahead within itself.
Hint: The prompt is fed with a cache too, several positions in one call. What is the position of
    the first one, and which keys may it see?
Rejected by: test_piece_after_piece
Costs: 30 %
Same as: masks_only_without_a_cache because both see all keys
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            k, v = cache.append(k, v)
            start = cache.length
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
