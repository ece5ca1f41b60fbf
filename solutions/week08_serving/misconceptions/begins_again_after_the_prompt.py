"""Takes a single new position for position 0.

Exercise: GroupedQueryAttention
Believes: A piece of one position is the first of its piece.
Shows: After the prompt each token sees the first position alone.
Hint: What is the position of the token that follows a prompt of five? Which of its keys may it see?
Rejected by: test_prefill_and_decode
Costs: 40 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x: torch.Tensor, cache: Any | None=None) -> torch.Tensor:
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length if x.shape[1] > 1 else 0
            k, v = cache.append(k, v)
        query_place = start + torch.arange(x.shape[1], device=x.device).unsqueeze(-1)
        key_place = torch.arange(k.shape[2], device=x.device)
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
