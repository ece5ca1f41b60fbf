"""Creates a tensor on the CPU.

Exercise: grouped_query_attention
Believes: torch moves tensors together by itself.
Shows: An error on a GPU.
Hint: Every new tensor needs a device: that of the queries.
Rejected by: test_device
Costs: 15 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    everything = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool)
    return _grouped(q, k, v, everything if mask is None else everything & mask)
