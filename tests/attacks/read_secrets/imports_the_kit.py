"""Line 3. Imports graders, solutions and the kit by their names.

Expected: softmax=forbidden
Score at most: softmax=0
"""

for name in ("autograder", "autograder.graders", "solutions", "nbgrader", "pytest", "course", "_pytest"):
    try:
        print("LOOT:", __import__(name))
    except ImportError:
        pass
