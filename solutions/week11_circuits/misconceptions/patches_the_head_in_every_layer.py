"""Patches the head in every layer.

Exercise: patch_heads
Believes: A head has one number in the whole model.
Shows: All layers get the same fractions.
Hint: Does your `edit` look at the number of the layer?
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
            if layer <= model.n_layers:
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
    return (torch.stack(rows) - worst) / (best - worst)
