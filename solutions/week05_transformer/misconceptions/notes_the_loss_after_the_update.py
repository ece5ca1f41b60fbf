"""Records the loss after each update.

Exercise: fit
Believes: the loss of a step is the loss that the step leaves behind.
Shows: every loss stands one place too early, and the first one is missing.
Hint: Before or after the update? The docstring says which loss belongs to a step.
Rejected by: test_losses
Costs: 25 %
"""


def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).backward()
        optimiser.step()
        losses.append(F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item())
    model.train(was_training)
    return losses
