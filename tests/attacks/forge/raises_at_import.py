"""Line 19. Raises BaseException after its definitions, at import.

Expected: softmax=pass
Score at most: softmax=2
"""

class Skipped(BaseException):
    pass


raise Skipped("no tests today")
