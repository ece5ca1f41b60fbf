"""Makes the mask on the CPU and ignores `device`.

Exercise: causal_mask
Believes: torch moves tensors to where they are needed.
Shows: right values, but on the CPU; the first use with scores on a GPU fails.
Hint: Two tensors must be on the same device before torch combines them. How does your mask learn
    where to be made?
Rejected by: test_device
Costs: 20 %
Belief: device_of_masks
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
