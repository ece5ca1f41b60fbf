"""The data model that all other packages share.

From other packages, `model` imports only small parts of `worker`. `course` reads course.yaml,
`report` defines stored reports and scores, and `source` analyses submitted source code. Many
packages use the small modules here: `errors` defines the exceptions, `message_text` makes untrusted
text safe to show, `availability` finds optional libraries and devices, and `submission_files`
defines the zips, notes and timestamps of submissions.
"""
