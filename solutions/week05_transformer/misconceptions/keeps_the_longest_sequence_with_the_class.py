"""Keeps max_len where the next model replaces it.

Exercise: MiniTransformer
Believes: constructor arguments can be stored on the class.
Shows: a model's longest sequence changes when another model is built.
Hint: Build two models with different max_len, then ask the first for its own. Whose does it say?
Rejected by: test_two_objects
Costs: 20 %
Belief: sizes_on_the_class
"""

_MiniTransformer = MiniTransformer


class MiniTransformer(_MiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len, dropout)
        MiniTransformer.max_len = vars(self).pop("max_len")
