"""Leaves the model in evaluation mode, whatever its mode was before.

Exercise: fit
Believes: a trained model is used next, not trained further.
Shows: losses and parameters are right; later training of the model runs without dropout.
Hint: Read what the docstring says about the model's mode. What is it when fit begins, and what when it ends?
Rejected by: test_mode_is_restored
Costs: 15 %
Belief: mode_not_restored
"""


def fit(model, inputs, targets, steps, lr=1e-2):
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
    model.eval()
    return losses
