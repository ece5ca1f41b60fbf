"""Trains without dropout if the model comes in evaluation mode.

Exercise: fit
Believes: a model is in training mode unless someone changes that.
Shows: a model that has just been evaluated is trained without dropout.
Hint: Evaluate a model, then train it again: who switches the dropout back on?
Rejected by: test_trains_in_training_mode
Costs: 25 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
