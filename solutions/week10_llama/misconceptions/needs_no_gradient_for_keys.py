"""Lets no gradient flow through keys and values.

Exercise: LlamaAttention
Believes: What goes into a cache is never differentiated.
Shows: W_k and W_v never learn.
Hint: Without a cache the same layer is trained. Which parameters get a gradient?
Rejected by: test_gradients
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
        k, v = k.detach(), v.detach()
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
