"""Always counts the larger measure as clean.

Exercise: patch_heads
Believes: The clean run has the larger measure.
Shows: Fractions are wrong if the clean measure is the smaller one.
Hint: Which run is clean if its measure is the smaller one?
Rejected by: test_direction
Costs: 30 %
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
    low, high = torch.minimum(best, worst), torch.maximum(best, worst)
    return (torch.stack(rows) - low) / (high - low)
