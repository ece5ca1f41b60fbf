"""Patches outputs of the corrupted run into the clean run.

Exercise: patch_heads
Believes: The two runs can change roles.
Shows: A head without effect gets 1, and an important head gets little.
Hint: What should a head get that changes nothing, and what does it get from your code?
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

        return measure(model(clean, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, None)), measure(model(corrupted, record))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (torch.stack(rows) - worst) / (best - worst)
