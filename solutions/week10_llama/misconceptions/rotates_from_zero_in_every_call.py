"""Rotates every chunk as if it came first.

Exercise: LlamaAttention
Believes: x begins at position 0.
Shows: Right without a cache; with one, distances to older tokens are wrong.
Hint: After a prompt of 5 tokens, which position does the next token have in your code?
Rejected by: test_prefill_and_decode
Costs: 35 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0 if cache is None else cache.length
        q, k = apply_rotary(q, frequencies), apply_rotary(k, frequencies)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
