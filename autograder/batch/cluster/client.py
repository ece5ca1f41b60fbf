"""Distribute submissions over the workers of a cluster and collect their reports."""

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from typing import Any, cast

from ...model.availability import installed
from ...model.errors import KitError
from ...model.report.schema import Ending, SubmissionReport
from ...model.report.scoring import fault
from ..pool import Finished, Work
from . import Cluster
from .worker import RESOURCE, grade, key_of, leave, settle_in

_LOOK_SECONDS = 1.0
# Wait this long for a worker, because batch systems may need minutes to start one.
PATIENCE_SECONDS = 300.0
# Submissions queued per worker. A larger number would leave too few for workers that join later.
AHEAD = 3

Say = Callable[[str], None]


class ClusterSession:
    """A connection for consecutive batches. Workers keep their parcels between batches.

    After an error, the next batch opens a new connection.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client: Any = None
        self._crews: dict[bytes, _Crew] = {}

    def grade(
        self, parcel: bytes, work: Work, finished: Finished, notify: Say = lambda line: None
    ) -> None:
        """Grade the submissions in `work`; call `finished` with each key and report on arrival."""
        try:
            self._client = self._client or _connect(self._cluster)
            if parcel not in self._crews:
                self._crews[parcel] = _Crew(self._client, parcel, notify)
            self._crews[parcel].grade(work, finished)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the parcels from the workers and close the connection."""
        for crew in self._crews.values():
            crew.dismiss()
        if self._client is not None:
            with contextlib.suppress(OSError, TimeoutError):
                self._client.close(timeout=5)
        self._client, self._crews = None, {}


def _connect(cluster: Cluster) -> Any:
    if not installed("cluster"):
        raise KitError("--cluster needs the extra `cluster`: pip install 'gradewright[cluster]'")
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are raised as KitError
    try:
        return Client(cluster.address, security=_security(cluster), set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError, RuntimeError) as error:
        why = str(error.__cause__ or error).strip().split("\n")[0]
        raise KitError(f"no scheduler answers at {cluster.address}: {why}") from None


def _security(cluster: Cluster) -> Any:
    from distributed.security import Security

    security: Any = Security()  # reads distributed's configuration
    if cluster.tls_ca:
        security = Security(
            tls_ca_file=cluster.tls_ca,
            tls_client_cert=cluster.tls_cert,
            tls_client_key=cluster.tls_key,
            require_encryption=True,
        )
    if cluster.address.startswith("tls://") and not security.tls_ca_file:
        raise KitError(
            f"{cluster.address}: TLS needs certificates: give --tls-ca, --tls-cert and --tls-key, "
            "or set distributed.comm.tls in distributed's configuration"
        )
    return security


class _Crew:
    """The workers that can grade a parcel. Each refusal is reported only once."""

    def __init__(self, client: Any, parcel: bytes, notify: Say) -> None:
        self._client, self._parcel, self.say = client, parcel, notify
        self.key = key_of(parcel)
        self.resource = RESOURCE + self.key
        self.refusals: dict[str, str] = {}
        self._settled: set[str] = set()

    def grade(self, work: Work, finished: Finished) -> None:
        """Grade until each submission has a report; after a system error, try once more."""
        # runs one job at a time on each worker that has the parcel
        executor = cast(
            Executor, self._client.get_executor(pure=False, resources={self.resource: 1})
        )
        waiting, alone, tried = deque(work), deque[str](), set[str]()
        running: dict[Future[SubmissionReport], str] = {}
        looked, fit = 0.0, 0
        try:
            while waiting or alone or running:
                if time.monotonic() - looked >= _LOOK_SECONDS:
                    fit, looked = self.look(), time.monotonic()
                if not fit:  # the scheduler would not send these jobs to workers that join later
                    waiting.extend(_cancel(running))
                    self._wait_for_workers()
                    looked = 0.0
                    continue
                if not (waiting or running):
                    waiting.append(alone.popleft())
                while waiting and len(running) < fit * AHEAD:
                    key = waiting.popleft()
                    running[executor.submit(grade, self.key, work[key])] = key
                ended, _ = wait(running, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for future in ended:
                    key = running.pop(future)
                    report, has_killed = _outcome(future, work[key].name)
                    if report.verdict is Ending.GRADER_FAULT and key not in tried:
                        tried.add(key)
                        (alone if has_killed else waiting).append(key)
                    else:
                        finished(key, report)
        except OSError as error:
            raise _lost() from error
        finally:
            _cancel(running)

    def look(self) -> int:
        """Send the parcel to new workers; return the number of workers that can grade it."""
        workers = self._workers()
        fit = {a for a, w in workers.items() if w["resources"].get(self.resource)}
        new = [a for a in workers if a not in fit and a not in self.refusals]
        answers: dict[str, Any] = {}
        if new:
            answers = self._client.run(settle_in, self._parcel, workers=new, on_error="return")
        for address, answer in answers.items():
            if answer == "":
                fit.add(address)
            elif isinstance(answer, OSError):  # the worker died or is still starting
                continue
            else:
                self.refusals[address] = _reason(answer)
                self.say(f"worker {address} refuses to grade: {self.refusals[address]}")
        self._settled |= fit
        return len(fit & workers.keys())

    def _workers(self) -> dict[str, Any]:
        if self._client.status != "running":
            raise _lost()
        info = self._client.sync(self._client.scheduler.identity, n_workers=-1)
        return cast(dict[str, Any], info["workers"])

    def dismiss(self) -> None:
        """Remove the parcel from the workers that are still alive."""
        with contextlib.suppress(Exception):  # a cleanup error must not hide the batch's error
            here = [a for a in self._workers() if a in self._settled]
            if here:
                self._client.run(leave, self.key, workers=here, on_error="return")

    def _wait_for_workers(self) -> None:
        """Wait until a worker can grade; raise KitError if all workers refuse or none appears."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        if not self.refusals:
            self.say("waiting for a worker: the cluster has none")
        while not self.look():
            if self.refusals:
                reasons = " | ".join(dict.fromkeys(self.refusals.values()))
                raise KitError(f"every worker of the cluster refuses to grade: {reasons}")
            if time.monotonic() > deadline:
                raise KitError(
                    f"no worker appeared within {PATIENCE_SECONDS:.0f} s: start workers (`dask "
                    "worker ADDRESS --nthreads 1`) and run the command again; finished results are "
                    "stored"
                )
            time.sleep(_LOOK_SECONDS)  # the scheduler sends no event when a worker joins


def _cancel(running: dict[Future[SubmissionReport], str]) -> list[str]:
    keys = list(running.values())
    for future in running:
        future.cancel()
    running.clear()
    return keys


def _outcome(future: Future[SubmissionReport], name: str) -> tuple[SubmissionReport, bool]:
    """Return the report, and True if the workers died, for which other jobs may be responsible."""
    from distributed import KilledWorker

    try:
        return future.result(), False
    except CancelledError:
        raise _lost() from None
    except KilledWorker:
        return fault(name, "the workers that graded it died repeatedly"), True
    except Exception as error:  # this task failed: continue with the other submissions
        return fault(name, f"{type(error).__name__}: {error}"), False


def _reason(answer: object) -> str:
    if isinstance(answer, ModuleNotFoundError):
        return f"{answer.name} is not installed there: install the same version of the kit as here"
    return str(answer) if isinstance(answer, str) else f"{type(answer).__name__}: {answer}"


def _lost() -> KitError:
    return KitError(
        "lost the connection to the scheduler. Finished results are stored; run the command again "
        "to grade the rest"
    )
