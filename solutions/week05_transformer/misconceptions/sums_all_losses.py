"""Adds up the losses of all positions.

Exercise: fit
Believes: The loss of a batch is the sum of its losses.
Shows: Losses are as many times too large as there are positions in all sequences.
Hint: Over how many numbers does the docstring's mean run, with 4 sequences of 6?
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
        each = F.cross_entropy(model(inputs).transpose(1, 2), targets, reduction="none")
        loss = each.sum()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
