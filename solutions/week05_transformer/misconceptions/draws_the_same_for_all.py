"""Draws once and lets all sequences of the batch share the draw.

Exercise: generate
Believes: one random number per step is enough.
Shows: equal prompts get the same continuation, however high the temperature.
Hint: multinomial draws independently for every row that it is given. How many rows does yours get?
Rejected by: test_equal_prompts_go_different_ways
Costs: 30 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                dice = torch.rand((), generator=generator, dtype=logits.dtype)
                chosen = (probabilities.cumsum(-1) < dice).sum(-1, keepdim=True)
                chosen = chosen.clamp(max=logits.shape[-1] - 1)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
