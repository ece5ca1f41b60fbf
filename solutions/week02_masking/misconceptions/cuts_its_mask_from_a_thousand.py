"""Cuts each mask out of one of fixed size, which long sequences exceed.

Exercise: causal_mask
Believes: a thousand tokens are always enough.
Shows: for more than a thousand tokens the mask is too small.
Hint: Where does the size of your mask come from? It should come from seq_len alone.
Rejected by: test_long_sequences
Costs: 20 %
"""


def causal_mask(seq_len, device=None):
    whole = torch.ones(1000, 1000, dtype=torch.bool, device=device).tril()
    return whole[:seq_len, :seq_len]
