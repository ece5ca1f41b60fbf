"""Stores unrotated keys and rotates all of them in every step.

Exercise: LlamaAttention
Believes: The cache holds what the projection returns.
Shows: Same outputs, but each step rotates the whole past again, and other code cannot use the
  cache.
Hint: How often is the key of the first token rotated while 100 tokens are generated?
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
        q = apply_rotary(q, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
        k = apply_rotary(k, frequencies)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
