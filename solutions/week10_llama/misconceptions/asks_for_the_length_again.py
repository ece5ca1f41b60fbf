"""Rotates each query further than the key of its token, by the length of x.

Exercise: LlamaAttention
Believes: The length stays the same during a call.
Shows: Queries stand s positions too far from their keys.
Hint: A cache contains 5 positions, and 2 are appended. At which position is the first new query?
  And the first new key?
Rejected by: test_prefill_and_decode
Costs: 35 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        k = apply_rotary(k, frequencies, cache.length if cache is not None else 0)
        if cache is not None:
            k, v = cache.append(k, v)
        q = apply_rotary(q, frequencies, cache.length if cache is not None else 0)
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= key_position[-x.shape[1] :, None])
        return self.W_o(y.transpose(1, 2).flatten(2))
