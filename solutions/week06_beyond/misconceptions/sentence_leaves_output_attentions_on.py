"""Sets output_attentions in the model's config and leaves it set.

Exercise: sentence_attention
Believes: a config describes one call.
Shows: right weights; later calls of the model return and store attentions that no caller wants.
Hint: Compare model.config before and after your function, entry by entry.
Rejected by: test_attention_is_given_back
Costs: 15 %
"""


def sentence_attention(model, tokenizer, sentence):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt").to(model.device)
    was_training, implementation = model.training, model.config._attn_implementation
    model.eval()
    model.set_attn_implementation("eager")
    model.config.output_attentions = True
    with torch.no_grad():
        attentions = model(**encoded).attentions
    model.set_attn_implementation(implementation)
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
