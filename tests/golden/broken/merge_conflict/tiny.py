import torch


def weigh(scores, dim=-1):
    return torch.exp(scores) / torch.exp(scores).sum(dim, keepdim=True)


def shift(x):
<<<<<<< HEAD
    return x - x.max()
=======
    return x - x.amax(-1, keepdim=True)
>>>>>>> fix
