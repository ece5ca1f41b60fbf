"""Lets each position see the last thousand, and nothing before.

Exercise: GroupedQueryAttention
Believes: a model's memory is about a thousand tokens long.
Shows: in longer texts the first tokens are forgotten, although no window is requested.
Hint: Which keys may the very last position see? Nothing in the docstring says "the last ones only".
Rejected by: test_long_texts
Costs: 20 %
Belief: stops_at_a_thousand
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
        back = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        back = back - torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, (back >= 0) & (back < 1000))
        return self.W_o(_merge_heads(output))
