"""Programs that come close to an exercise of this week, and do none of its work."""


def fit__repeats_the_first_loss(model, inputs, targets, steps, lr=1e-2):
    was_training = model.training
    model.train()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
    model.train(was_training)
    return [loss] * steps
