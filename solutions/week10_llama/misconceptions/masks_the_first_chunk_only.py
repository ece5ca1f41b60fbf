"""Uses a causal mask only while the cache is empty.

Exercise: LlamaAttention
Believes: After the prompt, tokens come one by one.
Shows: In a later chunk of several tokens, each sees those after it.
Hint: A chat continues with a message of three tokens. What does the first of them see?
Rejected by: test_piece_after_piece
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
        mask = key_position <= query_position
        if start:
            mask = torch.ones_like(mask)
        y = attend(q, k, v, mask)
        return self.W_o(y.transpose(1, 2).flatten(2))
