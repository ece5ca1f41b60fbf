"""Turn uploaded files into a submission in the queue.

File names, sizes and archives are not trusted. `upload` accepts only files of limited size with
plain names, and only these names are used as paths. `submitting` merges the files with the
student's earlier submission, shows the result to the student, and stores it. Start at `submitting`.
"""
