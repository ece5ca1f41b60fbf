"""Drops axes of size 1.

Exercise: patch_heads
Believes: One layer is a row.
Shows: Axes of size 1 are missing.
Hint: What is the shape of your result for one layer?
Rejected by: test_sizes
Costs: 20 %
"""


def patch_heads(model, clean, corrupted, measure):
    recorded = {}

    def record(layer, written):
        recorded[layer] = written
        return written

    def patched(target, head):
        def patch(layer, written):
            edited = written.clone()
            if layer == target:
                edited[:, head] = recorded[layer][:, head]
            return edited

        return measure(model(corrupted, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, record)), measure(model(corrupted, None))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return ((torch.stack(rows) - worst) / (best - worst)).squeeze()
