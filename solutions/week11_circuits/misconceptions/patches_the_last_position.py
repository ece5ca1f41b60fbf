"""Patches the last position only.

Exercise: patch_heads
Believes: Only the last position predicts.
Shows: Heads that act at earlier positions restore nothing.
Hint: At how many positions do you replace the output?
Rejected by: test_values
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
                edited[:, head, -1] = recorded[layer][:, head, -1]
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
