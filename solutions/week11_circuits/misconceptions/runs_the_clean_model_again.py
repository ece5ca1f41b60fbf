"""Runs the clean model for every head.

Exercise: patch_heads
Believes: Recorded outputs must be fresh.
Shows: The model runs twice for each head.
Hint: How often does your function call the model?
Rejected by: test_runs
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

        model(clean, record)
        return measure(model(corrupted, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, record)), measure(model(corrupted, None))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (torch.stack(rows) - worst) / (best - worst)
