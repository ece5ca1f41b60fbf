"""Clears the gradients after each step only, so that the first one follows what was there before.

Exercise: fit
Believes: a model that comes to be trained has no gradients yet.
Shows: right for a new model; one with earlier gradients takes a wrong first step.
Hint: What is in .grad if backward() was called on the model before fit? Which line comes first in
    your loop?
Rejected by: test_gradients_from_before
Costs: 15 %
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
        optimiser.zero_grad()
        losses.append(loss.item())
    model.train(was_training)
    return losses
