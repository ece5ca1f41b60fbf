"""Remembers what was fed for each cache, and attends to that.

Exercise: GroupedQueryAttention
Believes: The cache only names the text; the text itself is what one needs.
Shows: Right for texts that it fed itself, but every token computes all keys and values again, and
    what others appended is not seen.
Hint: `append` returns all keys and values so far. Which of them would you still have to compute?
Rejected by: test_what_the_cache_holds
Costs: 40 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        new = x.shape[1]
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            texts = self.__dict__.setdefault("texts", {})
            x = torch.cat([texts[id(cache)], x], dim=1) if id(cache) in texts else x
            texts[id(cache)] = x
            cache.append(k, v)
            k = _split_heads(self.W_k(x), self.n_kv_heads)
            v = _split_heads(self.W_v(x), self.n_kv_heads)
        q = _split_heads(self.W_q(x), self.n_heads)
        place = torch.arange(x.shape[1], device=x.device)
        output, _ = grouped_query_attention(q, k, v, place <= place.unsqueeze(-1))
        return self.W_o(_merge_heads(output[:, :, -new:]))
