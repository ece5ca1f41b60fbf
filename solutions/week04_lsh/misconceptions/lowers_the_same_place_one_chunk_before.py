"""Lowers the score with the key one whole chunk before a position.

Exercise: lsh_attention
Believes: The diagonal of the window is the position itself.
Shows: A position attends to itself freely and ignores another key.
Hint: A window lists the chunk before first. At which place in it does a query find its own key?
Rejected by: test_itself_comes_last
Costs: 20 %
"""


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    diagonal = torch.eye(*scores.shape[-2:], dtype=torch.bool, device=scores.device)
    return torch.where(diagonal, scores - 1e5, scores)
