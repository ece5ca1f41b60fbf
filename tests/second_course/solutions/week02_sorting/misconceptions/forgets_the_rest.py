"""Stops when one list is empty.

Exercise: merge
Believes: when one list is used up, all is merged.
Shows: the last numbers are missing.
Hint: What is left in the other list when the first is used up?
Costs: 50 %
Rejected by: test_any_lengths
"""


def merge(first, second):
    merged = []
    while first and second:
        source = first if first[0] <= second[0] else second
        merged.append(source[0])
        if source is first:
            first = first[1:]
        else:
            second = second[1:]
    return merged
