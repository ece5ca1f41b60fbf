"""Passes the weights to NumPy without regard to their dtype or
gradients.

Exercise: plot_heads
Believes: NumPy and Matplotlib understand every tensor.
Shows: an error for bfloat16, and for weights that need gradients.
Hint: What has to happen to a tensor before `.numpy()` accepts it? Week 2's heatmap had the same
task.
Rejected by: test_every_dtype
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    figure, grid = plt.subplots(1, len(weights), squeeze=False)
    for head, ax in enumerate(grid[0]):
        ax.imshow(weights[head].numpy(), cmap="Greys", vmin=0.0, vmax=1.0)
        ax.set_xlabel("Key")
        ax.set_ylabel("Query")
        ax.set_title(f"Head {head + 1}")
        if tokens is not None:
            ax.set_xticks(range(len(tokens)), tokens)
            ax.set_yticks(range(len(tokens)), tokens)
    return figure
