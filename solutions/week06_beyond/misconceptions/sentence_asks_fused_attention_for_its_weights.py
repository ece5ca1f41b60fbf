"""Requests the attentions without switching to an implementation that returns them.

Exercise: sentence_attention
Believes: output_attentions=True is all it takes.
Shows: a warning, and an empty tuple instead of the attentions, which cannot be stacked.
Hint: Read the warning. Fused attention never writes the weights down, so it has none to give.
Rejected by: test_fused_attention
Costs: 35 %
"""


def sentence_attention(model, tokenizer, sentence):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt").to(model.device)
    was_training, implementation = model.training, model.config._attn_implementation
    model.eval()
    with torch.no_grad():
        attentions = model(**encoded, output_attentions=True).attentions
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
