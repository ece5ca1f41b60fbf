"""Appends keys and values to the cache twice.

Exercise: LlamaAttention
Believes: One call for the keys, one for the values.
Shows: The cache is twice as long as the sequence.
Hint: How long is the cache after a prompt of 4 tokens?
Rejected by: test_rotated_keys_are_stored
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
            cache.append(k, v)
            k, v = cache.append(k, v)
            k, v = k[:, :, : start + x.shape[1]], v[:, :, : start + x.shape[1]]
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
