"""Keeps keys and values in the module.

Exercise: GroupedQueryAttention
Believes: The module remembers, and the argument says whether it should.
Shows: Two texts that are written in turn get mixed up.
Hint: One module serves many texts at once. Where must the state of one text be stored?
Rejected by: test_each_cache_is_a_text_of_its_own
Costs: 35 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            if getattr(self, "past", None) is not None and cache.length:
                start = self.past[0].shape[2]
                k, v = torch.cat([self.past[0], k], 2), torch.cat([self.past[1], v], 2)
            cache.append(k[:, :, start:], v[:, :, start:])
            self.past = k, v
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
