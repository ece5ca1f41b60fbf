"""Hands the weights to NumPy in their own dtype, and NumPy has no bfloat16.

Exercise: plot_attention
Believes: NumPy knows every dtype of torch.
Shows: right in all dtypes but bfloat16.
Hint: Which of torch's float types does NumPy lack, and which one could carry the same values?
Rejected by: test_any_float_type
Costs: 15 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().cpu().numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
