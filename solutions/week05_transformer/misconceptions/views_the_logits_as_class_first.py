"""Reshapes the logits to (B, V, T) where their axes would have to change places.

Exercise: fit
Believes: cross_entropy wants the classes on axis 1, and a reshape puts them there.
Shows: logits of different tokens and classes are mixed; the loss goes down all the same, by learning around it.
Hint: A reshape never moves a number. Which call moves the last axis to the second place?
Rejected by: test_losses
Costs: 35 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        logits = model(inputs)
        batch, tokens, vocabulary = logits.shape
        loss = F.cross_entropy(logits.reshape(batch, vocabulary, tokens), targets)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
