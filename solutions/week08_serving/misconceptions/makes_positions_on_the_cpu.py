"""Makes the positions for the mask on the CPU.

Exercise: GroupedQueryAttention
Believes: A mask is small, so it may live anywhere.
Shows: An error on a GPU.
Hint: `torch.arange` needs the device of x.
Rejected by: test_device
Costs: 15 %
"""


class GroupedQueryAttention(GroupedQueryAttention):
    def forward(self, x, cache=None):
        q = _split_heads(self.W_q(x), self.n_heads)
        k = _split_heads(self.W_k(x), self.n_kv_heads)
        v = _split_heads(self.W_v(x), self.n_kv_heads)
        start = 0
        if cache is not None:
            start = cache.length
            k, v = cache.append(k, v)
        query_place = start + torch.arange(x.shape[1]).unsqueeze(-1)
        key_place = torch.arange(k.shape[2])
        output, _ = grouped_query_attention(q, k, v, key_place <= query_place)
        return self.W_o(_merge_heads(output))
