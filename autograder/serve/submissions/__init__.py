"""From uploaded files to a submission in the queue.

The sender may be lying in file names, sizes and archives. `upload` accepts only bounded files with
plain names; nothing else ever becomes a path. `submitting` merges them with the parts that are kept
from the student's earlier submission and stores the result; `review` describes it first. Start
reading at `submitting`.
"""

__all__ = ["drafts", "review", "submitting", "upload"]
