"""Quietly drops the beginning of a sequence that is too long.

Exercise: MiniTransformer
Believes: a model should take what it is given.
Shows: the logits are fewer than the tokens, and the loss is computed against the wrong places, or not at all.
Hint: Cropping is the business of `generate`, which knows what it does. What should the model say to more than max_len tokens?
Rejected by: test_refuses_what_is_too_long
Costs: 20 %
"""

_RightMiniTransformer = MiniTransformer


class MiniTransformer(_RightMiniTransformer):
    def forward(self, ids):
        return super().forward(ids[:, -self.max_len :])
