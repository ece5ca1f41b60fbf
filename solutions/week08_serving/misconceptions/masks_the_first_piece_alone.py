"""Masks nothing once there is something in the cache.

Exercise: GroupedQueryAttention
Believes: After the prompt tokens come one by one, and the last one sees everything.
Shows: Right for a prompt and single tokens; in a later piece of several positions, each sees those
    that come after it.
Hint: Three positions are fed after five others. Which keys may the first of the three see?
Rejected by: test_piece_after_piece
Costs: 30 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        batch, new, width = x.shape
        d = width // self.n_heads
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        query_place = start + torch.arange(new, device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        mask = None if start else key_place <= query_place
        output, _ = grouped_query_attention(q, k, v, mask)
        return self.W_o(_merge_heads(output))
