"""Puts the first feature of every head side by side, then the second, and so on.

Exercise: merge_heads
Believes: the order of the features within a token does not matter.
Shows: each row has the right numbers in the wrong order.
Hint: The features of head 0 should come first, all of them. Which of the two axes you merge should be the slow one?
Rejected by: test_values
Costs: 40 %
Belief: interleaved_heads
"""


def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)
