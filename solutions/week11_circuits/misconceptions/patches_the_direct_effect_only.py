"""Keeps what later layers write.

Exercise: patch_heads
Believes: Heads only act on the logits.
Shows: Later layers do not react to the patch.
Hint: What do later heads read if an earlier head is patched?
Rejected by: test_later_layers_see_the_change
Costs: 35 %
"""


def patch_heads(model, clean, corrupted, measure):
    recorded, usual = {}, {}

    def keep(layer, written):
        usual[layer] = written
        return written

    def record(layer, written):
        recorded[layer] = written
        return written

    def patched(target, head):
        def patch(layer, written):
            edited = usual[layer].clone()
            if layer == target:
                edited[:, head] = recorded[layer][:, head]
            return edited

        return measure(model(corrupted, patch))

    with torch.no_grad():
        best, worst = measure(model(clean, record)), measure(model(corrupted, keep))
        if best == worst:
            raise ValueError("equal measures")
        rows = []
        for layer in range(model.n_layers):
            rows.append(torch.stack([patched(layer, head) for head in range(model.n_heads)]))
    return (torch.stack(rows) - worst) / (best - worst)
