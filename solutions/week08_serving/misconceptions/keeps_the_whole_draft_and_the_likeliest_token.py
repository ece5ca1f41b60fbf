"""Keeps the whole draft without comparing the two models, and draws no token.

Exercise: speculative_step
Believes: The small model's tokens are good enough, and so is the most likely token after them.
Shows: Every token of the draft is accepted, and the same token follows for any u.
Hint: Which of your arguments say how likely a drafted token is, for each of the two models?
Rejected by: test_drawn_steps
Costs: 90 %
"""


def speculative_step(draft, p, q, u):
    return len(draft), int(p[-1].argmax())
