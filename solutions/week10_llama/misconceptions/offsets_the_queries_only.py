"""Uses the position in the sequence for queries only.

Exercise: LlamaAttention
Believes: Keys are stored in order, so they need no offset.
Shows: Right without a cache; new keys look as if they were old.
Hint: Which position does the key of a new token have? And its query?
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
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
