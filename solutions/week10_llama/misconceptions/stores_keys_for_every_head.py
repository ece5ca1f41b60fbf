"""Copies the keys to all query heads before they are stored.

Exercise: LlamaAttention
Believes: The cache needs a key per query head.
Shows: The cache is as large as without sharing.
Hint: How many heads does the cache have that `new_caches` makes?
Rejected by: test_rotated_keys_are_stored
Costs: 30 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0 if cache is None else cache.length
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], dim=1) for y in (k, v))
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
