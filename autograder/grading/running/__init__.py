"""Run a week's hidden tests against one submission after another.

Theory of operation. pytest collects the hidden tests once (`test_runner`); for every submission the
same tests run with a different target behind their fixtures (`pytest_plugin`). A test's outcome
depends only on the answers it gets, so submissions with the same answers share it (`answer_trie`),
and the answers of the course's own programs are stored on disk (`disk_cache`).

Start with `test_runner.Runs`. `standalone` runs hidden tests under plain pytest for their authors,
and `fixtures` explains a test that ends without a verdict.
"""

__all__ = [
    "answer_trie",
    "disk_cache",
    "fixtures",
    "pytest_plugin",
    "standalone",
    "test_runner",
]
