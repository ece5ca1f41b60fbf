"""Gives neighbouring query heads different key-value heads.

Exercise: LlamaAttention
Believes: Query head h uses key-value head h mod H_kv.
Shows: Wrong unless there is one key-value head, or one per query head.
Hint: For H = 4 and H_kv = 2: which query heads use the first key-value head in your code?
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
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        order = torch.arange(q.shape[1], device=x.device).view(-1, k.shape[1]).T.flatten()
        y = attend(q[:, order], k, v, key_position <= query_position)[:, order.argsort()]
        return self.W_o(y.transpose(1, 2).flatten(2))
