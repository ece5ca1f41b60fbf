"""Takes what `subplots` gives for a list of panels, also where it is a single one.

Exercise: plot_heads
Believes: plt.subplots always gives an array of panels.
Shows: stops with an error for one head; right for all other numbers.
Hint: What does plt.subplots(1, 1) give, and what does `squeeze` change about it?
Rejected by: test_any_number_of_heads
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    columns = min(heads, 4)
    rows = math.ceil(heads / columns)
    size = (2.7 * columns + 0.8, 3.2 * rows)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained")
    panels = list(grid.flat)
    for spare in panels[heads:]:
        spare.remove()
    for head, ax in enumerate(panels[:heads]):
        image = _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    figure.colorbar(image, ax=panels[:heads], label="Weight")
    return figure
