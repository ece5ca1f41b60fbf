"""Keeps the number of heads where the next module replaces it.

Exercise: CausalSelfAttention
Believes: constructor arguments can be stored on the class.
Shows: a module changes its number of heads when another one is built.
Hint: Build two modules with different numbers of heads, then call the first. Which number does it
    use?
Rejected by: test_two_objects
Costs: 20 %
Belief: sizes_on_the_class
"""

_CausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_CausalSelfAttention):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout)
        CausalSelfAttention.n_heads = vars(self).pop("n_heads")
