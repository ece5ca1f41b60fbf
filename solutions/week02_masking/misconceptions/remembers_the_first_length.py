"""Keeps the mask of the first call and returns it for every later length.

Exercise: causal_mask
Believes: the sequence length never changes, so that the mask can be made once.
Shows: a second call with a different length gets the size of the first.
Hint: Making a mask once is a good thought, but sequences come in many lengths. What should a
    second call with a different length return?
Rejected by: test_length_may_change_between_calls
Costs: 35 %
"""

_remembered = {}


def causal_mask(seq_len, device=None):
    if "mask" not in _remembered:
        _remembered["mask"] = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril()
    return _remembered["mask"]
