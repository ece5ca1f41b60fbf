"""Rounds the losses before it notes them.

Exercise: fit
Believes: two digits are enough to read.
Shows: the model is trained as it should be, but the losses are not the numbers that they were.
Hint: Who decides how a number is shown, and who keeps it?
Rejected by: test_losses
Costs: 15 %
"""

_fit = fit


def fit(model, inputs, targets, steps, lr=1e-2):
    return [round(loss, 2) for loss in _fit(model, inputs, targets, steps, lr)]
