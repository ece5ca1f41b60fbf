"""Creates the positions for the mask on the CPU.

Exercise: LlamaAttention
Believes: A mask is small, so it may be anywhere.
Shows: An error on a GPU.
Hint: On which device is the result of torch.arange if you do not say?
Rejected by: test_device
Costs: 15 %
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
        query_position = start + torch.arange(x.shape[1])[:, None]
        key_position = torch.arange(k.shape[2])
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
