"""Line 19. Raises SystemExit before anything is defined.

Base: nothing
Expected: softmax=refused
Score at most: softmax=0
"""

raise SystemExit(0)
