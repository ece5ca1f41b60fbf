"""Patches the same head in every run.

Exercise: patch_heads
Believes: A function remembers a variable's value.
Shows: All entries are equal.
Hint: Which head does `edit` patch in your first run, and which in the last? Which variables does
    `edit` read, and when?
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
            if layer == model.n_layers - 1:
                edited[:, -1] = recorded[layer][:, -1]
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
