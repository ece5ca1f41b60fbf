"""Turn uploaded files into a submission in the queue.

The sender may be lying in file names, sizes and archives. `upload` accepts only bounded files with
plain names, and only these names become paths. `submitting` merges them with the student's earlier
submission, describes the result to the student, and stores it. Start reading at `submitting`.
"""

__all__ = ["submitting", "upload"]
