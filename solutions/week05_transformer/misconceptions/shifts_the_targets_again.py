"""Compares each logit with the target one place further on.

Exercise: fit
Believes: a language model predicts the next token, so the targets have to be shifted.
Shows: the caller has shifted them already: the model learns to say what comes after the next token.
Hint: Which place of the targets belongs to which place of the logits? Read in the docstring who shifts.
Rejected by: test_targets_count_as_given
Costs: 35 %
"""

def fit(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        logits = model(inputs)[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    model.train(was_training)
    return losses
