"""Never clears the gradients, so that each step follows the sum of all gradients so far.

Exercise: fit
Believes: backward() makes new gradients.
Shows: the first two losses are right, then the path leaves the right one; training still seems to work.
Hint: What does backward() do with a gradient that is already there? Print one parameter's .grad twice.
Rejected by: test_parameters_afterwards
Costs: 40 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
