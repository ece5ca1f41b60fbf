"""Takes fewer heads where their number does not divide d_model.

Exercise: MiniTransformer
Believes: a number of heads that does not fit can be rounded down quietly.
Shows: sizes that do not fit are accepted, and another model is built than was asked for.
Hint: Who notices that the model has fewer heads than were asked for?
Costs: 20 %
Rejected by: test_refuses_heads_that_do_not_fit
"""

_Right = MiniTransformer


class MiniTransformer(_Right):
    def __init__(self, vocab_size, d_model, n_heads, *others, **settings):
        while d_model % n_heads:
            n_heads -= 1
        super().__init__(vocab_size, d_model, n_heads, *others, **settings)
