"""Accept, merge, store and read submissions.

Submissions come from the exchange (`collector`, `exchange`, `inbound`, `safe_read`), learning
platforms, repositories and the web service, and all of them pass through `submissions.accept`.
`merging` keeps the parts that a student does not resubmit, `history` stores every submission,
`groups` shares submissions within a group, and `cell_repair` and `notebooks` deal with damaged
notebooks.

The names, sizes, links and contents of submitted files are not trusted. The kit parses the files
within limits and never runs them here. A submission that cannot be graded never replaces a
submission that can be graded. Start reading at `submissions`.
"""
