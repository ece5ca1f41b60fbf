"""Sets model.training back by hand, which does not reach the parts of the model.

Exercise: fit
Believes: the flag of the model is the mode of the model.
Shows: a model that came in evaluation mode says so afterwards, while its dropouts go on dropping.
Hint: Each part has a flag of its own. Which method sets them all?
Rejected by: test_mode_is_restored
Costs: 20 %
Belief: mode_not_restored
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
        losses.append(loss.item())
    model.training = was_training
    return losses
