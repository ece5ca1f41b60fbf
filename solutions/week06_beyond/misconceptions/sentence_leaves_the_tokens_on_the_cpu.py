"""Feeds the tokens to the model from the CPU, wherever the model lives.

Exercise: sentence_attention
Believes: the model takes care of its inputs.
Shows: right on the CPU; on a GPU an error about two devices.
Hint: Where does a tokenizer put its tensors, and where are the weights of the model?
Rejected by: test_device
Costs: 15 %
"""


def sentence_attention(model, tokenizer, sentence):
    tokens = tokenizer.convert_ids_to_tokens(tokenizer(sentence)["input_ids"])
    encoded = tokenizer(sentence, return_tensors="pt")
    was_training, implementation = model.training, model.config._attn_implementation
    model.eval()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        attentions = model(**encoded, output_attentions=True).attentions
    model.set_attn_implementation(implementation)
    model.train(was_training)
    return tokens, torch.stack(attentions).squeeze(1)
