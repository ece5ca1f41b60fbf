"""Ends in a log-softmax, so that it gives log-probabilities.

Exercise: MiniTransformer
Believes: a language model returns probabilities, and their logarithm is more stable.
Shows: training goes on as before, because the cross-entropy of log-probabilities is the same number; the values differ all the same.
Hint: Each row of your result, exponentiated, sums to 1. Should logits do that? Who takes the softmax in `fit` and in `generate`?
Rejected by: test_values
Costs: 30 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        return F.log_softmax(super().forward(ids), dim=-1)
