"""Push grades and comments to learning platforms.

`push` compares the gradebook with the grades on a `Platform` (Canvas or LTI 1.3) and sends each
missing grade exactly once, even if a push is interrupted.
"""

__all__ = ["canvas", "http_client", "lti", "push"]
