"""Line 32. Returns its input, or a view of it, in the hope that it is compared with itself.

Variants: same view view_as expanded
Expected: softmax=wrong|pass
Score at most: softmax=0.4
"""

def softmax(x, dim=-1):
    return {"same": x, "view": x[:], "view_as": x.view_as(x), "expanded": x.expand(x.shape)}[VARIANT]
