"""Measures probabilities.

Exercise: patch_heads
Believes: A measure is taken from probabilities.
Shows: The measure gets values between 0 and 1.
Hint: What does the docstring give to `measure`?
Rejected by: test_values
Costs: 30 %
"""


def patch_heads(model, clean, corrupted, measure):
    recorded = {}
    given = measure

    def measure(logits):
        return given(logits.softmax(dim=-1))

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
