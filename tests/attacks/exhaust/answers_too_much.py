"""Line 47. Returns far more data than requested.

Variants: tensor list text mapping nested cycle many key
Expected: softmax=wrong|bad_reply|limit|crashed|timeout
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    if VARIANT == "tensor":
        return torch.ones(20 << 20)
    if VARIANT == "list":
        return [torch.ones(3)] * 10**6
    if VARIANT == "text":
        return "x" * 10**8
    if VARIANT == "mapping":
        return {str(i): i for i in range(10**6)}
    if VARIANT == "nested":
        value = []
        for _ in range(10**5):
            value = [value]
        return value
    if VARIANT == "cycle":
        value = []
        value.append(value)
        return value
    if VARIANT == "many":
        return [torch.ones(1) + i for i in range(9000)]
    return {"k" * 10**7: 1}
