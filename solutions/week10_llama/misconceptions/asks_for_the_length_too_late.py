"""Takes new queries to stand further on than they do, by the length of x.

Exercise: LlamaAttention
Believes: The length is the number of positions before x.
Shows: Each new token stands s positions too far.
Hint: What is the length of a cache of 5 after 2 positions have been appended? Where does the
  first of them stand?
Rejected by: test_prefill_and_decode
Costs: 35 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0
        if cache is not None:
            k, v = cache.append(k, v)
            start = cache.length
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
