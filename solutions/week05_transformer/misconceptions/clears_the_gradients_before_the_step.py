"""Never moves the parameters, so that nothing is learned.

Exercise: fit
Believes: the gradients have to be cleared in every step, anywhere.
Shows: every loss is the same, and the parameters do not change.
Hint: Which line makes the gradients, which one uses them, and what happens to them in between?
Rejected by: test_losses
Costs: 90 %
"""


def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.zero_grad()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
