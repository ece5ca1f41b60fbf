"""Takes a dropout rate and does not hand it on to the blocks.

Exercise: MiniTransformer
Believes: naming an argument is enough.
Shows: training and evaluation give the same logits at any rate.
Hint: Follow the number `dropout` from your constructor: who is to use it, and does it arrive there?
Rejected by: test_training_with_everything_dropped
Costs: 20 %
Belief: dropout_not_passed_on
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__(vocab_size, d_model, n_heads, n_layers, max_len)
