"""Rotates the values as well.

Exercise: LlamaAttention
Believes: Everything that belongs to a position is rotated.
Shows: Outputs depend on where the sequence begins.
Hint: Which product has to depend on the distance? Do the values take part in it?
Rejected by: test_without_a_cache
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
        v = apply_rotary(v, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
