"""Mistakes the axis of the positions for that of the heads.

Exercise: ablate_heads
Believes: The heads are on the second-to-last axis.
Shows: A position is removed in all heads.
Hint: Which axis of `written` (B, H, T, C) belongs to the heads?
Rejected by: test_one_head
Costs: 40 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if not 0 <= layer < model.n_layers:
            raise ValueError(f"layer {layer}")
        if not 0 <= head < model.n_heads:
            raise ValueError(f"head {head}")
    means = {}

    def record(layer, written):
        means[layer] = written.mean(dim=0)
        return written

    def ablate(layer, written):
        edited = written.clone()
        for number, head in heads:
            if number == layer:
                place = min(head, written.shape[2] - 1)
                edited[:, :, place] = 0 if reference is None else means[layer][:, place]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
