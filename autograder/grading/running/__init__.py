"""Run a week's hidden tests against one submission after another.

Theory of operation. pytest collects the hidden tests once (`test_runner`). The same tests then run
for each submission, with a different target behind their fixtures (`pytest_plugin`). The outcome of
a test depends only on the submission's replies, so submissions with equal replies share an outcome
(`answer_trie`). The replies of the course's own programs are stored on disk (`disk_cache`).

Start with `test_runner.Runs`. `fixtures` explains errors in hidden tests to their authors.
"""

__all__ = ["answer_trie", "disk_cache", "fixtures", "pytest_plugin", "test_runner"]
