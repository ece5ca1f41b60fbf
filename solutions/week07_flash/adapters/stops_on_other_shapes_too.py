"""Works for inputs of some shapes, and stops on others.

Exercise: FlashAttention
Believes: Inputs have the shapes of the example.
Shows: An error for other numbers of leading dimensions, or for lengths that blocks do not divide.
Hint: Which shapes does the docstring allow? Find the line that stops with no leading dimensions, with
    three, and with 11 keys in blocks of 4.
Rejected by: test_leading_dimensions
Costs: 20 %
"""

_Given = FlashAttention


class FlashAttention:
    @staticmethod
    def apply(q, k, v, block_size, causal):
        return _fitted(_Given.apply, q, k, v, block_size, causal)
