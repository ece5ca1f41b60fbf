"""Turn uploaded files into a submission in the queue.

The sender may be lying in file names, sizes and archives. `upload` accepts only bounded files with
plain names, and only these names become paths. `submitting` merges them with the student's earlier
submission and stores the result; `review` describes it first. Start
reading at `submitting`.
"""

__all__ = ["review", "submitting", "upload"]
