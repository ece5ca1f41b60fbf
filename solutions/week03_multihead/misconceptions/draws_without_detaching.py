"""Hands weights that still need gradients to NumPy.

Exercise: plot_heads
Believes: a picture has nothing to do with gradients, so they need no attention.
Shows: right for weights made by hand; an error for weights straight from a model.
Hint: PyTorch's error message names the call that is missing. Why can NumPy not keep track of
    gradients?
Rejected by: test_weights_straight_from_a_model
Costs: 15 %
"""


def plot_heads(weights, tokens=None):
    figure, grid = plt.subplots(1, len(weights), squeeze=False)
    for head, ax in enumerate(grid[0]):
        ax.imshow(weights[head].cpu().double().numpy(), cmap="Greys", vmin=0.0, vmax=1.0)
        ax.set_xlabel("Key")
        ax.set_ylabel("Query")
        ax.set_title(f"Head {head + 1}")
        if tokens is not None:
            ax.set_xticks(range(len(tokens)), tokens)
            ax.set_yticks(range(len(tokens)), tokens)
    return figure
