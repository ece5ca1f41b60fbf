"""Takes the most likely token at every temperature.

Exercise: generate
Believes: the best text consists of the best tokens.
Shows: right at temperature 0; at any other, the same text again and again.
Hint: Generate twice at temperature 1. What should differ, and which line draws?
Rejected by: test_drawn_tokens
Costs: 30 %
"""


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -model.max_len :])[:, -1]
            ids = torch.cat([ids, logits.argmax(dim=-1, keepdim=True)], dim=1)
    model.train(was_training)
    return ids
