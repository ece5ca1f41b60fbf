"""Keeps the whole draft without comparing the two models.

Exercise: speculative_step
Believes: The small model's tokens are good enough.
Shows: Every token of the draft is accepted, even if the large model finds it unlikely.
Hint: Which of your arguments say how likely a drafted token is, for each of the two models?
Rejected by: test_drawn_steps
Costs: 90 %
"""


def speculative_step(draft, p, q, u):
    return len(draft), _drawn(p[-1], u[-1])
