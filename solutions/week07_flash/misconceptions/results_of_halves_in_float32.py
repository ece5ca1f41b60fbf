"""Returns float32 for blocks in half precision.

Exercise: online_softmax
Believes: A sum computed in float32 may stay there.
Shows: Wrong type for float16 and bfloat16; float32 and float64 are right.
Hint: Computing in a wider type is fine. Which type does the docstring promise for the results?
Rejected by: test_float_types
Costs: 15 %
"""


def online_softmax(blocks):
    maximum = total = None
    for block in blocks:
        entries = block.to(_wide(block.dtype))
        largest = entries.amax(dim=-1)
        new_maximum = largest if maximum is None else torch.maximum(maximum, largest)
        shift = _finite(new_maximum)
        new_total = torch.exp(entries - shift.unsqueeze(-1)).sum(dim=-1)
        if total is not None:
            new_total = new_total + total * torch.exp(maximum - shift)
        maximum, total = new_maximum, new_total
    return maximum, total
