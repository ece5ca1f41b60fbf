"""Exchanges layer and head.

Exercise: ablate_heads
Believes: A pair is (head, layer).
Shows: Another head is missing.
Hint: Which entry of a pair comes first?
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
    means = {}

    def record(layer, written):
        means[layer] = written.mean(dim=0)
        return written

    def ablate(layer, written):
        edited = written.clone()
        for head, number in heads:
            if number == layer and head < written.shape[1]:
                edited[:, head] = 0 if reference is None else means[layer][head]
        return edited

    with torch.no_grad():
        if reference is not None:
            model(reference, record)
        return model(ids, ablate)
