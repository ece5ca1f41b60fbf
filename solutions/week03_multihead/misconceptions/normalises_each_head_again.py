"""Takes another softmax of the weights before drawing them.

Exercise: plot_heads
Believes: what is drawn must be normalised first.
Shows: every head looks almost uniform.
Hint: The weights already sum to one. What does a second softmax make of 0 and 1?
Rejected by: test_every_head
Costs: 35 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, torch.softmax(weights[head], dim=-1), tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
