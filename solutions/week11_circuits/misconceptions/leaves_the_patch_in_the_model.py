"""Leaves the patch in the model.

Exercise: patch_heads
Believes: A model is made for one experiment.
Shows: Later runs of the model are patched as well.
Hint: What does the model compute after your function has returned?
Rejected by: test_the_model_is_unchanged
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
    plain, n_heads = model.forward, model.n_heads

    def last(layer, written):
        edited = written.clone()
        edited[:, n_heads - 1] = recorded[layer][:, n_heads - 1]
        return edited

    model.forward = lambda ids, edit=None: plain(ids, edit or last)
    return (torch.stack(rows) - worst) / (best - worst)
