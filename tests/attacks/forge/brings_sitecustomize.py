"""Line 21. Brings files that Python runs at start-up.

Expected: softmax=wrong
Score at most: softmax=0
"""

def softmax(x, dim=-1):
    return None


#--- sitecustomize.py
print("LOOT: sitecustomize was imported")
#--- usercustomize.py
print("LOOT: usercustomize was imported")
#--- evil.pth
import sys; print("LOOT: a .pth file was read")
#--- __init__.py
print("LOOT: __init__ was imported")
