"""Makes the start of the maximum or the sum on the CPU.

Exercise: online_softmax
Believes: A new tensor is where the others are.
Shows: An error on a GPU: two devices are mixed.
Hint: Functions that make a tensor from a shape take a device; the ..._like ones take it from a
    tensor.
Rejected by: test_device
Costs: 10 %
Belief: starts_on_the_cpu
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        if maximum is None:
            maximum = torch.full(entries.shape[:-1], -torch.inf, dtype=entries.dtype)
            total = torch.zeros_like(maximum)
        new_maximum = torch.maximum(maximum, entries.amax(-1))
        shift = _finite(new_maximum)
        fresh = torch.exp(entries - shift.unsqueeze(-1)).sum(-1)
        total = total * torch.exp(maximum - shift) + fresh
        maximum = new_maximum
    return maximum.to(block.dtype), total.to(block.dtype)
