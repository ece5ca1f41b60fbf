"""Uses attributes of the generator even if there is no generator.

Exercise: generate
Believes: every caller hands a generator over.
Shows: AttributeError for None, which is the default; with a generator all is right.
Hint: Call your function with its defaults. Which of them does a line of yours use as if it were
    always there?
Rejected by: test_without_a_generator
Costs: 15 %
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
                probabilities = torch.softmax(logits / temperature, dim=-1).to(generator.device)
                chosen = torch.multinomial(probabilities, 1, generator=generator).to(ids.device)
            ids = torch.cat([ids, chosen], dim=1)
    model.train(was_training)
    return ids
