import torch


def weigh(scores, dim=-1):
    return torch.exp(scores) / torch.exp(scores).sum(dim, keepdim=True)


def scale(x):
    raise NotImplementedError("scale")


print(scale(torch.zeros(2)))
