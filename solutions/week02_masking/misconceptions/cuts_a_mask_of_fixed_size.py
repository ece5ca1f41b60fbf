"""Cuts each mask out of a small one of fixed size.

Exercise: causal_mask
Believes: no sequence is longer than the one that was tried.
Shows: right up to eight tokens; beyond them the shape stays (8, 8).
Hint: Try a longer sequence than any you have tried so far and look at the shape.
Rejected by: test_length_may_change_between_calls
Costs: 30 %
"""


def causal_mask(seq_len, device=None):
    largest = torch.ones(8, 8, dtype=torch.bool, device=device).tril()
    return largest[:seq_len, :seq_len]
