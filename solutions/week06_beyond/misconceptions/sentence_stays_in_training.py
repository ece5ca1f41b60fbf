"""Leaves the model in the mode that it comes in.

Exercise: sentence_attention
Believes: without a backward pass the mode does not matter.
Shows: a model in training drops weights at random during the inspection.
Hint: Which layers of the model behave differently in training? Ask twice for the same sentence.
Rejected by: test_no_dropout
Costs: 30 %
"""


def sentence_attention(model, tokenizer, sentence):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt").to(model.device)
    was_training, implementation = model.training, model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        attentions = model(**encoded, output_attentions=True).attentions
    model.set_attn_implementation(implementation)
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
