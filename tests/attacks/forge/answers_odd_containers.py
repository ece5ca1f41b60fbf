"""Line 27. Returns containers that contain themselves, misreport their length or have unusual keys.

Variants: cycle pair_cycle dict_cycle named ordered default return_type keys surrogates long_list deep property_dict
Expected: softmax=wrong|bad_reply|crashed|limit|timeout
Score at most: softmax=0
"""

import collections


def softmax(x, dim=-1):
    y = torch.exp(x)
    if VARIANT == "cycle":
        held = [y]
        held[0] = held
        return held
    if VARIANT == "pair_cycle":
        one, two = [y], {}
        two["a"] = one
        one[0] = two
        return one
    if VARIANT == "dict_cycle":
        held = {}
        held[0] = held
        return held
    if VARIANT == "named":
        return collections.namedtuple("Softmax", "softmax")(y)
    if VARIANT == "ordered":
        return collections.OrderedDict({"\x1b[2J<script>alert(1)</script>": y})
    if VARIANT == "default":
        return collections.defaultdict(lambda: y, {None: y, 1.5: y, (1,): y})
    if VARIANT == "return_type":
        return torch.max(y, dim) if y.dim() else torch.return_types.max((y, y))
    if VARIANT == "keys":
        return {-(2**70): y, 2**63: y, "x" * 10**5: y, True: y}
    if VARIANT == "surrogates":
        return {"\ud800" * 100: "\udfff" * 100}
    if VARIANT == "long_list":
        return [None] * 10**6
    if VARIANT == "deep":
        held = y
        for _ in range(5000):
            held = (held,)
        return held

    class Late(dict):
        def items(self):
            return [("a", y)] * 10**4

        def __len__(self):
            return 1

    return Late({n: y for n in range(200)})
