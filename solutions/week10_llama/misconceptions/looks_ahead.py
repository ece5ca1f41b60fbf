"""Hides no later tokens.

Exercise: LlamaAttention
Believes: The model learns not to look ahead.
Shows: An output depends on later tokens.
Hint: Change the last token. Which outputs should change?
Rejected by: test_nothing_looks_ahead
Costs: 35 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0 if cache is None else cache.length
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, torch.ones_like(key_position <= query_position))
        return self.W_o(y.transpose(1, 2).flatten(2))
