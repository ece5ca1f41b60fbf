"""Keeps the heads patched so far.

Exercise: patch_heads
Believes: Patches are added one by one.
Shows: The last fractions are near 1.
Hint: How many heads are patched in your last run?
Rejected by: test_values
Costs: 35 %
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
            if layer < target:
                edited = recorded[layer].clone()
            elif layer == target:
                edited[:, :head] = recorded[layer][:, :head]
            return edited

        return measure(model(corrupted, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, record)), measure(model(corrupted, None))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (torch.stack(rows) - worst) / (best - worst)
