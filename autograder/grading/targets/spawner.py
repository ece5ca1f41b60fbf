"""Start processes for the submissions of a week by forking a warm template.

A spawner starts its first template immediately, and the template warms up while this process
imports torch for its engine. This module therefore does not import torch.
"""

import msgspec

from ...model.availability import FAKE_GPU, installed
from ...model.course import Course, Limits, Week
from ...model.source.rules import libraries
from ...sandbox import Child, ChildLimits, Sandbox, SandboxFault, Template
from ...worker.protocol.frames import PrepareConfig


class Spawner:
    """Starts processes for the submissions of a week. `gpu`: whether the processes may use CUDA."""

    def __init__(
        self,
        sandbox: Sandbox,
        course: Course,
        week: Week,
        devices: tuple[str, ...],
        limits: Limits | None = None,
    ) -> None:
        limits = limits or course.limits(week)
        solution = course.solution(week).read_text("utf-8")
        tests = course.graders(week).glob("*.py")
        config = PrepareConfig(
            not_allowed=week.all_patterns,
            libraries=libraries(week.extras),
            fake_gpu=FAKE_GPU in devices,
            extras=usable_extras(week),
            # These imports are slow, so the template makes them only for weeks that need them.
            optimizers="torch.optim" in solution,
            drawing="matplotlib" in solution,
            counting=any("count." in t.read_text("utf-8") for t in tests),
            max_reply_bytes=limits.reply_mib << 20,
            gpu_bytes=limits.gpu_mib << 20 if "cuda" in devices else 0,
        )
        self.gpu = "cuda" in devices
        self._sandbox = sandbox
        self._config = msgspec.msgpack.encode(config)
        self._template: Template | None = self._start()

    def spawn(self, limits: ChildLimits) -> Child:
        """Return a confined process. If a warm template fails, retry once with a new template."""
        if self._template is None:
            self._template = self._start()
        try:
            return self._template.spawn(limits)
        except SandboxFault:
            was_warm = self._template.warm
            self.end()
            if not was_warm:
                raise
            self._template = self._start()
            return self._template.spawn(limits)

    def end(self) -> None:
        """End the template and all its children. The next `spawn` starts a new template."""
        if self._template is not None:
            self._template.close()
            self._template = None

    def _start(self) -> Template:
        return self._sandbox.start(self._config, cuda=self.gpu)


def usable_extras(week: Week) -> tuple[str, ...]:
    """Return the sorted names of the week's extras that are installed."""
    return tuple(sorted({e.extra for e in week.exercises if e.extra and installed(e.extra)}))
