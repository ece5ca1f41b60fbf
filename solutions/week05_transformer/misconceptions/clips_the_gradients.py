"""Clips the gradients before each update.

Exercise: fit
Believes: training is safer with short steps.
Shows: the first loss is right; after that, the weights differ.
Hint: Which steps does the docstring list between the backward pass and the update?
Rejected by: test_parameters_afterwards
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
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1)
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
