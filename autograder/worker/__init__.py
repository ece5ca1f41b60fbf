"""The code that runs inside the sandbox, in the same process as the submission.

Theory of operation. This package is the only project code that a submission can see. It imports the
student's module, makes the calls that the trusted process requests, and reports their results, side
effects and operation counts. No test, expected value or score ever enters this process, and no
verdict is reached here. A submission can forge every report, so the trusted process treats each
report as untrusted output of the submission.

The package is imported as `worker` inside the sandbox and as `autograder.worker` outside, so it
uses relative imports only. Start with `fork_server` (the warm process that forks one child per
submission), `server` (the child's request loop) and `executor` (the execution of one request).
`remote_stub` and `stub_call` redirect calls of wrong exercises to correct versions in the trusted
process. The subpackages are `protocol` (messages), `isolation` (confining a child), `monitor`
(hooks), `torch_support` and `triton_support`.
"""

__all__ = [
    "executor",
    "fork_server",
    "isolation",
    "monitor",
    "protocol",
    "remote_stub",
    "reporting",
    "server",
    "stop_location",
    "stub_call",
    "torch_support",
    "triton_support",
]
