"""Adds the losses of a sequence up, and averages over the sequences only.

Exercise: fit
Believes: each sequence has one loss.
Shows: losses are as many times too large as a sequence has positions.
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
        loss = each.sum(dim=1).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
