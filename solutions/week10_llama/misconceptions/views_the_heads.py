"""Splits the heads without moving the axis.

Exercise: LlamaAttention
Believes: view(B, H, s, d) splits the width into heads.
Shows: Each head gets features of several tokens.
Hint: Which entries of token 0 are in head 0 after your view?
Rejected by: test_without_a_cache
Costs: 35 %
"""

class LlamaAttention(LlamaAttention):
    def forward(self, x, frequencies, cache=None):
        q, k, v = (
            layer(x).reshape(x.shape[0], -1, x.shape[1], self.d)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        start = 0 if cache is None else cache.length
        q, k = apply_rotary(q, frequencies, start), apply_rotary(k, frequencies, start)
        if cache is not None:
            k, v = cache.append(k, v)
        query_position = start + torch.arange(x.shape[1], device=x.device)[:, None]
        key_position = torch.arange(k.shape[2], device=x.device)
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.transpose(1, 2).flatten(2))
