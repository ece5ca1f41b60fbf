"""Checks the width with `assert`.

Exercise: MultiHeadAttention
Believes: an assertion is how a module refuses an argument.
Shows: an AssertionError where a ValueError is promised.
Hint: Which exception does the docstring promise for a value the caller got wrong?
Rejected by: test_refuses_sizes_that_do_not_fit
Costs: 15 %
"""


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        assert d_model % num_heads == 0, f"{d_model} is not divisible by {num_heads}"
        super().__init__(d_model, num_heads)
