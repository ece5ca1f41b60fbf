"""Returns fractions on the CPU.

Exercise: patch_heads
Believes: New tensors are on the right device.
Shows: The fractions are not on the device of the model.
Hint: On which device is a tensor that you create?
Rejected by: test_device
Costs: 15 %
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
    found = torch.zeros(model.n_layers, model.n_heads, dtype=best.dtype)
    found.copy_((torch.stack(rows) - worst) / (best - worst))
    return found
