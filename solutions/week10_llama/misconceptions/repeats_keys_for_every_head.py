"""Copies the keys and values to all query heads.

Exercise: LlamaAttention
Believes: Each query head needs keys to multiply with.
Shows: Same outputs, but much more memory traffic.
Hint: How large is the largest tensor that one decoding step makes? Compare it with the cache.
Rejected by: test_keys_are_not_copied_for_each_head
Costs: 25 %
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
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], dim=1) for y in (k, v))
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
