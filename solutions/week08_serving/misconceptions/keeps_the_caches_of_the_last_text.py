"""Uses the caches of the last text again.

Exercise: generate_cached
Believes: Caches are there to be reused.
Shows: The second text goes on from the first.
Hint: A cache belongs to one text. What should a new prompt begin with?
Rejected by: test_a_text_after_another
Costs: 35 %
"""


def generate_cached(model, idx, max_new_tokens):
    was_training = model.training
    model.eval()
    if not hasattr(model, "caches") or len(idx) != model.rows:
        model.caches, model.rows = (
            model.new_caches(idx.shape[0], idx.shape[1] + max_new_tokens),
            len(idx),
        )
    fed = idx
    with torch.no_grad():
        for _ in range(max_new_tokens):
            fed = model(fed, model.caches)[:, -1].argmax(dim=-1, keepdim=True)
            idx = torch.cat([idx, fed], dim=1)
    model.train(was_training)
    return idx
