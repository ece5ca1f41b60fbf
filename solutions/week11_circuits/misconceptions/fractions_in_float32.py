"""Returns float32 fractions.

Exercise: patch_heads
Believes: Fractions are float32.
Shows: A float64 model gives float32 fractions.
Hint: Which dtype do the measures have?
Rejected by: test_double_precision
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
    return ((torch.stack(rows) - worst) / (best - worst)).float()
