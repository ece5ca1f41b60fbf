"""Draws panels whose axes have no names.

Exercise: plot_heads
Believes: everybody knows which axis the keys are on.
Shows: correct heatmaps, but the labels of the x axis and the y axis are empty.
Hint: A reader sees a dark cell at row 2, column 5. Which of the two attends to the other?
Rejected by: test_every_head
Costs: 15 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        ax.imshow(weights[head].detach().cpu().double().numpy(), cmap="Greys", vmin=0.0, vmax=1.0)
        if tokens is not None:
            ax.set_xticks(range(len(tokens)), tokens)
            ax.set_yticks(range(len(tokens)), tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
