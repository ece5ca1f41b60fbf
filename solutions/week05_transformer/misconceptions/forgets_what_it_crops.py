"""Crops the text itself, so that its beginning is missing from the result.

Exercise: generate
Believes: what the model does not see any more is not needed any more.
Shows: right up to max_len tokens; longer results are too short.
Hint: There are two things here: what the model is shown, and what is returned. Do they have the same name in your code?
Rejected by: test_the_prompt_comes_first
Costs: 30 %
"""

def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was_training = model.training
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(max_new_tokens):
            ids = ids[:, -model.max_len :]
            logits = model(ids)[:, -1]
            if temperature == 0:
                chosen = logits.argmax(dim=-1, keepdim=True)
            else:
                probabilities = torch.softmax(logits / temperature, dim=-1)
                chosen = torch.multinomial(probabilities, 1, generator=generator)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
