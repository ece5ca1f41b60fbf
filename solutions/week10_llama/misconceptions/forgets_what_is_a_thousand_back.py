"""Masks keys that are more than 1000 positions back.

Exercise: LlamaAttention
Believes: Nothing so old matters.
Shows: Long sequences lose their beginning.
Hint: Does your mask have a second condition?
Rejected by: test_long_sequences
Costs: 20 %
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
        y = attend(q, k, v, (key_position <= query_position) & (key_position > query_position - 1000))
        return self.W_o(y.transpose(1, 2).flatten(2))
