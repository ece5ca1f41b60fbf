"""Freezes the model's parameters and leaves them frozen.

Exercise: generate
Believes: requires_grad_(False) is how one stops gradients.
Shows: the right tokens, but afterwards the model no longer learns.
Hint: Whose parameters are these, and what does the caller do with them next?
Rejected by: test_the_model_can_be_trained_afterwards
Costs: 15 %
"""

@torch.no_grad()
def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    model.requires_grad_(False)
    ids = prompt
    for _ in range(max_new_tokens):
        logits = model(ids[:, -model.max_len :])[:, -1]
        if temperature == 0:
            chosen = logits.argmax(dim=-1, keepdim=True)
        else:
            probabilities = torch.softmax(logits / temperature, dim=-1)
            chosen = torch.multinomial(probabilities, 1, generator=generator)
        ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
