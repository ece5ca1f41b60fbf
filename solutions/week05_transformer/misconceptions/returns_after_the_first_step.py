"""Returns after the first step.

Exercise: fit
Believes: the last line of a function is run once, wherever it is indented.
Shows: one loss and one update, however many steps are asked for.
Hint: Ask for three steps. How often does your loop run?
Rejected by: test_losses
Costs: 35 %
Belief: returns_in_the_loop
"""


def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        model.train(was_training)
        return losses
