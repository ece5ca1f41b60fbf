"""The Landlock backend, for hosts that grant no user namespaces.

Theory of operation ------------------- Who may be lying: the code that runs in the sandbox later.
The template is an ordinary process with an empty environment and no descriptor except its control
socket. It finds its libraries through links to the paths that `mounts.py` lists. Each child is
confined to these paths (see `worker/isolation/enter_landlock.py`) and runs under the same seccomp
filter, which also denies signals and changes of file metadata, because nothing else separates it
from the grader's files.
"""

from __future__ import annotations

from functools import partial

from autograder.model.errors import SandboxMissing
from autograder.worker.isolation.enter_landlock import abi
from autograder.worker.isolation.enter_namespaces import GPU_PROC_FILES

from ..mounts import Visible
from .backend import Sandbox, StartedTemplate
from .template_home import Home

DISK_IS_WATCHED = "disk usage is monitored, not limited: a submission can briefly exceed its limit"
THREADS_ARE_NOT_COUNTED = "if threads are allowed, only memory limits their number"
CAVEATS = (
    "a submission can test whether a path exists on this machine",
    DISK_IS_WATCHED,
    THREADS_ARE_NOT_COUNTED,
)
SHARED_UID = "submissions run with the grader's uid, without its capabilities"


class LandlockSandbox(Sandbox):
    """Start templates under Landlock."""

    name = "landlock"

    @property
    def caveats(self) -> tuple[str, ...]:
        return CAVEATS if self.separate_uids else (*CAVEATS, SHARED_UID)

    def _launch(self, visible: Visible, *, cuda: bool) -> StartedTemplate:
        try:
            abi()
        except OSError as error:
            raise SandboxMissing(
                f"this kernel has no Landlock ({error}); boot Linux 5.13 or newer with lsm=landlock"
            ) from error
        home = Home(visible)
        control, process = home.start(visible)
        proc = [f"/proc/{name}" for name in GPU_PROC_FILES] if cuda else []
        return StartedTemplate(
            control,
            partial(home.end, process),
            self._spare_uid(visible),
            scratch=home.folder,
            readable=(*home.readable, *proc),
        )
