"""Line 10. Encodes inputs in the amount of output, and in the size and depth of its result.

Variants: size shape index view key reshape matmul axis unpack split numpy
Expected: softmax=wrong|crashed|bad_reply|limit
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    flat = x.detach().flatten().tolist()[:40] if x.device.type == "cpu" else [0.0]
    number = int(f"{abs(flat[0]):.6g}".replace(".", "").replace("e", "").replace("-", "")[:6] or 0)
    if VARIANT == "size":
        return torch.zeros(number)
    if VARIANT == "shape":
        return torch.zeros(number, 0, number)
    if VARIANT == "index":
        return x[number]
    if VARIANT == "view":
        return x.view(number, 7)
    if VARIANT == "key":
        return {}[number]
    if VARIANT == "reshape":
        return x.reshape(-1, number)
    if VARIANT == "matmul":
        return torch.zeros(3, number) @ torch.zeros(5, 3)
    if VARIANT == "axis":
        return x.sum(number)
    if VARIANT == "unpack":
        a, b = range(number % 10000)
    if VARIANT == "split":
        return x.split([number])
    if VARIANT == "broadcast":
        return torch.zeros(number) + torch.zeros(5, number + 1)
    if VARIANT == "arguments":
        return (lambda a: a)(*range(number % 3000))
    if VARIANT == "numpy":
        return np.zeros((number, 2)) @ np.zeros((number, 2))
    if VARIANT == "recursion":
        return "x" * number
    return [x] * (number % 5000)
