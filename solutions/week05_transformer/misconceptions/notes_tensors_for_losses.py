"""Records each loss as a tensor.

Exercise: fit
Believes: a loss is a loss.
Shows: the list holds tensors, and every step's graph stays in memory as long as the list.
Hint: The docstring asks for plain numbers. What turns a tensor of one number into one?
Rejected by: test_losses
Costs: 20 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss)
    model.train(was_training)
    return losses
