import torch


def weigh(scores, dim=-1):
    return torch.exp(scores) / torch.exp(scores).sum(dim, keepdim=True)


assert weigh(torch.zeros(2)).sum() == 2, "weights sum to 2"
