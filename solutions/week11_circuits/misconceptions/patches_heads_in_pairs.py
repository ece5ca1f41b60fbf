"""Patches a head together with the next one.

Exercise: patch_heads
Believes: A head does not act alone.
Shows: The fractions of one layer sum to 2.
Hint: How many heads differ between your patched run and the corrupted run?
Rejected by: test_one_head_at_a_time
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
                both = [head, (head + 1) % written.shape[1]]
                edited[:, both] = recorded[layer][:, both]
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
