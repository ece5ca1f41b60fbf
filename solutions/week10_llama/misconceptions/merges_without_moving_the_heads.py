"""Joins the heads without moving the axis back.

Exercise: LlamaAttention
Believes: reshape(B, s, C) joins the heads.
Shows: The output of a token holds features of other tokens.
Hint: Which head and which token is the first entry of row 1 of your merged tensor?
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
        y = attend(q, k, v, key_position <= query_position)
        return self.W_o(y.reshape(x.shape))
