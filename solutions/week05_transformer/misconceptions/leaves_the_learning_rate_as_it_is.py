"""Trains with the optimiser's default learning rate and ignores `lr`.

Exercise: fit
Believes: Adam knows a good learning rate.
Shows: Every step is as long as with lr=1e-3: the first loss is right, the later ones are not.
Hint: Which of your arguments has no influence on the losses? Try lr=0.
Rejected by: test_learning_rate
Costs: 20 %
"""


def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters())
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
