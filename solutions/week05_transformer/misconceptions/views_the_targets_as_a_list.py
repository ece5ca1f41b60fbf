"""Asks for a `view` of the targets, which only contiguous targets allow.

Exercise: fit
Believes: tensors lie in memory in the order of their axes.
Shows: right for fresh tensors; for text[:, 1:] an error about strides.
Hint: Inputs and targets are often two slices of one text. Read the error message: it names the call that may copy.
Rejected by: test_slices_of_a_text
Costs: 15 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.view(-1))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
