"""Keeps the number of heads where the next module replaces it.

Exercise: MultiHeadAttention
Believes: constructor arguments can be stored on the class.
Shows: a module changes its number of heads when another one is built.
Hint: Build two modules with different numbers of heads, then call the first. Which number does it
    use?
Rejected by: test_two_objects
Costs: 20 %
Belief: sizes_on_the_class
"""

_MultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        MultiHeadAttention.num_heads = vars(self).pop("num_heads")
