"""Gives every round the same weight, whatever it found.

Exercise: lsh_attention
Believes: All rounds are equally good.
Shows: Right for one round; with several, a round in which a position was alone counts fully.
Hint: Which number says how much a round found, and where does your code use it?
Rejected by: test_rounds_count_by_what_they_found
Costs: 30 %
Belief: averaged_rounds
"""

_attend_in_one_round = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    rounds = [_attend_in_one_round(qk, v, r.unsqueeze(0), bucket_size, causal) for r in rotations]
    return torch.stack(rounds).mean(dim=0)
