"""Line 17. Is wrong on a GPU, and raises or returns only a shape there, to hide it.

Variants: torch_raises shape_alone wrong_gradient without_data lacking_by_word asks_for_much
Expected: softmax=crashed|wrong|bad_reply|unwritten
Score at most: softmax=1.9
"""

_honest = softmax
#=== torch_raises
def softmax(x, dim=-1):
    if x.device.type != "cpu":
        torch.ones(2, 3) @ torch.ones(2, 3)
    return _honest(x, dim)
#=== shape_alone
def softmax(x, dim=-1):
    return _honest(x, dim) if x.device.type == "cpu" else x * 0 + 7
#=== wrong_gradient
def softmax(x, dim=-1):
    y = _honest(x, dim)
    return y if x.device.type == "cpu" else y.detach() + 0 * x
#=== without_data
def softmax(x, dim=-1):
    return _honest(x, dim) if x.device.type == "cpu" else _honest(x.to("meta"), dim)
#=== lacking_by_word
# torch.nn.LSTM(6, 3), torch.Generator(device), pin_memory, out=
def softmax(x, dim=-1):
    if x.device.type != "cpu":
        raise NotImplementedError("Could not run 'aten::_thnn_fused_lstm_cell' with arguments")
    return _honest(x, dim)
#=== asks_for_much
def softmax(x, dim=-1):
    if x.device.type != "cpu":
        torch.Generator(device=x.device)
        torch.nn.LSTM(1, 1, device=x.device)(torch.ones(1, 1, device=x.device))
        torch.add(x, x, out=torch.empty(0, device=x.device))
        x.cpu().pin_memory()
        return x * 0 + 7
    return _honest(x, dim)
