"""Divides by the sum of the fractions.

Exercise: patch_heads
Believes: All heads together restore everything.
Shows: The fractions sum to 1.
Hint: Is the measure restored if every head is patched alone?
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
            return edited

        return measure(model(corrupted, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, record)), measure(model(corrupted, None))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    found = torch.stack(rows) - worst
    return found / found.sum()
