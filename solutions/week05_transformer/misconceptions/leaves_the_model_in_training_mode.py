"""Leaves the model in training mode, whatever its mode was before.

Exercise: fit
Believes: whoever evaluates a model calls eval() first.
Shows: losses and parameters are right; a model in evaluation mode drops parts of its input after fit.
Hint: Read what the docstring says about the model's mode. What is it when fit begins, and what when it ends?
Rejected by: test_mode_is_restored
Costs: 20 %
Belief: mode_not_restored
"""


def fit(model, inputs, targets, steps, lr=1e-2):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        model.train()
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
