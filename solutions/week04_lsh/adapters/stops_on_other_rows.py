"""Works for one number of leading dimensions, and stops on others.

Exercise: sort_by_bucket
Believes: Inputs have the shapes of the example.
Shows: An error for other numbers of leading dimensions.
Hint: Which shapes does the docstring allow? Find the line that stops with no leading dimensions, and
    with three.
Rejected by: test_every_row_on_its_own
Costs: 20 %
"""

_given = sort_by_bucket


def sort_by_bucket(buckets):
    return _fitted(_given, (1,), buckets)
