"""Processes the positions in blocks of 500 and omits the last, incomplete one.

Exercise: combine_rounds
Believes: long sequences come in whole blocks.
Shows: the last positions of a long sequence get zeros, and a short one is right only as it fits in
    one block.
Hint: How many of 1100 positions are in your blocks? Which ones are missing?
Rejected by: test_many_positions
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    result = torch.zeros_like(outputs.sum(-3))
    length = outputs.shape[-2]
    size = min(500, length)
    for start in range(0, length - size + 1, size):
        part = slice(start, start + size)
        scores = logsumexps[..., part].to(torch.promote_types(outputs.dtype, torch.float32))
        empty = torch.isneginf(scores).all(dim=-2, keepdim=True)
        weights = scores.masked_fill(empty, 0.0).softmax(dim=-2).masked_fill(empty, 0.0)
        mixed = (weights.unsqueeze(-1) * outputs[..., part, :].to(weights.dtype)).sum(dim=-3)
        result[..., part, :] = mixed.to(outputs.dtype)
    return result
