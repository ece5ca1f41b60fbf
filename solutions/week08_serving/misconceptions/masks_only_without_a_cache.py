"""Lets positions see later ones of the same call when there is a cache.

Exercise: GroupedQueryAttention
Believes: With a cache there is one new token, which may see everything.
Shows: Right token by token; a piece of several positions looks ahead within itself.
Hint: The prompt is fed with a cache too, several positions in one call. What is the position of
    the first one, and which keys may it see?
Rejected by: test_piece_after_piece
Costs: 30 %
Same as: asks_for_the_length_too_late because both see all keys
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        mask = None
        if cache is not None:
            k, v = cache.append(k, v)
        else:
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        output, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(_merge_heads(output))
