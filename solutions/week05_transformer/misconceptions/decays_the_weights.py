"""Trains with AdamW, which also pulls all weights towards zero.

Exercise: fit
Believes: AdamW is Adam, only newer.
Shows: the losses differ in the fourth digit, the weights a little more after every step.
Hint: What is the default weight decay of the optimiser that you chose, and what is Adam's?
Rejected by: test_parameters_afterwards
Costs: 25 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
