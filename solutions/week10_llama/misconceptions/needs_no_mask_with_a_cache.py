"""Hides no later tokens if there is a cache.

Exercise: LlamaAttention
Believes: A cache holds only the past.
Shows: In a chunk of several tokens, each sees those after it.
Hint: A prompt of five tokens is fed with an empty cache. What does its first token see?
Rejected by: test_piece_after_piece
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
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        mask = key_position <= query_position
        if cache is not None:
            mask = torch.ones_like(mask)
        y = attend(q, k, v, mask)
        return self.W_o(y.transpose(1, 2).flatten(2))
