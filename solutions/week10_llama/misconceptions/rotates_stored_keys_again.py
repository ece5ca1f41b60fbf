"""Rotates the keys before they are stored and again when they are read.

Exercise: LlamaAttention
Believes: Keys from the cache have to be brought to their positions.
Shows: Old keys are rotated by twice their position.
Hint: Follow the key of position 3 from its projection to its score. How often is it rotated?
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
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
            k = apply_rotary(k, frequencies)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
