"""Patches the clean run.

Exercise: patch_heads
Believes: Either run can be patched.
Shows: The fractions say how much is destroyed.
Hint: Which run should your patched run differ from in one head only?
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

        return measure(model(clean, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, None)), measure(model(corrupted, record))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (best - torch.stack(rows)) / (best - worst)
