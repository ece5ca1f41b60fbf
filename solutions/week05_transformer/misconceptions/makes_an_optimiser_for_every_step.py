"""Makes a new optimiser in every step, so that Adam's running means start again.

Exercise: fit
Believes: an optimiser is a function of the gradients.
Shows: the first step is right; then every parameter moves by the full learning rate, up or down, in every step.
Hint: Adam keeps running means of the gradients. Where do they live, and for how long in your code?
Rejected by: test_losses
Costs: 35 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    losses = []
    for _ in range(steps):
        optimiser = torch.optim.Adam(model.parameters(), lr=lr)
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
