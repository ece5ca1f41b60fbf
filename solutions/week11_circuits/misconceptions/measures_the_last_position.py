"""Measures at the last position only.

Exercise: patch_heads
Believes: A measure looks at the last position.
Shows: Measures of other positions fail or differ.
Hint: Which positions of the logits does `measure` get?
Rejected by: test_any_measure
Costs: 25 %
"""


def patch_heads(model, clean, corrupted, measure):
    recorded = {}
    given = measure

    def measure(logits):
        return given(logits[:, -1:].expand_as(logits))

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
    return (torch.stack(rows) - worst) / (best - worst)
