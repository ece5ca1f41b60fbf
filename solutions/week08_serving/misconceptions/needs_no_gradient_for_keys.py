"""Lets no gradient flow through keys and values.

Exercise: GroupedQueryAttention
Believes: What goes into a cache is never differentiated.
Shows: W_k and W_v never learn.
Hint: Without a cache the same module is trained. Turn gradients off where you generate, not here.
Rejected by: test_gradients
Costs: 25 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        with torch.no_grad():
            k = _split_heads(self.W_k(x), self.n_kv_heads)
            v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
