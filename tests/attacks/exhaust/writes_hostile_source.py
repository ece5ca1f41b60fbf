"""Line 47. Its failing line contains escapes and markup.

Expected: softmax=crashed
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    raise ValueError("<script>alert(1)</script>[31mowned")  # ]0;t <img src=x onerror=alert(1)>
