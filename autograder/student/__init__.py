"""What a student uses: a released week folder, its public checks, hints, progress and stubs.

Everything here works in a folder that `release` made, with nothing of the project beside it, and in
exercises/<week> of an author's checkout. No hidden test, solution or sandbox is needed: a
student's own code runs as the student, in a separate Python so that an endless loop can be ended.
"""
