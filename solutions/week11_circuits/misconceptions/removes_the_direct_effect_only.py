"""Keeps what later layers write.

Exercise: ablate_heads
Believes: Heads only act on the logits.
Shows: Later layers do not react to the ablation.
Hint: What do later heads read if an earlier head is ablated?
Rejected by: test_one_head
Costs: 35 %
"""


def ablate_heads(model, ids, heads, reference=None):
    heads = list(heads)
    for layer, head in heads:
        if not 0 <= layer < model.n_layers:
            raise ValueError(f"layer {layer}")
        if not 0 <= head < model.n_heads:
            raise ValueError(f"head {head}")
    means, usual = {}, {}

    def keep(layer, written):
        usual[layer] = written
        return written

    def record(layer, written):
        means[layer] = written.mean(dim=0)
        return written

    def ablate(layer, written):
        edited = usual[layer].clone()
        for number, head in heads:
            if number == layer:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        model(ids, keep)
        return model(ids, ablate)
