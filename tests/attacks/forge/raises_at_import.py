"""Line 19. Raises BaseException after its definitions, at import.

Expected: softmax=refused
Score at most: softmax=0
"""

class Skipped(BaseException):
    pass


raise Skipped("no tests today")
