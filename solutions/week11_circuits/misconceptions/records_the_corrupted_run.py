"""Records the corrupted run.

Exercise: patch_heads
Believes: The last run before the patch is recorded.
Shows: All fractions are 0.
Hint: In which run do you record the output that you patch in?
Rejected by: test_values
Costs: 40 %
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
        best, worst = measure(model(clean, None)), measure(model(corrupted, record))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (torch.stack(rows) - worst) / (best - worst)
