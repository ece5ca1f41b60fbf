"""Leaves token 0 out of the loss.

Exercise: fit
Believes: 0 is padding.
Shows: positions whose target is 0 count for nothing, and the model never learns to say it.
Hint: In our vocabularies 0 is a token like the others; in the verses it is the newline. Which
positions count in your loss?
Rejected by: test_no_token_is_special
Costs: 30 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=0)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
