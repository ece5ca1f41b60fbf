"""The instructor's end: who can grade, handing out submissions, taking reports."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from ...model.errors import KitError
from ...model.extras import installed
from ...model.report.schema import SubmissionReport
from ...model.report.verdicts import Ending
from ..intake import Submission
from ..pool import Finished, fault
from . import Cluster
from .parcel import key_of
from .worker import RESOURCE, grade, leave, settle_in

_LOOK_SECONDS = 1.0
# How long to wait for the first worker, or the next one where the last has gone: a queue is slow.
PATIENCE_SECONDS = 300.0
# Handed out ahead, for each worker: enough to keep it busy, few enough to go to newcomers.
AHEAD = 3
# A submission that met a fault of ours, or whose workers died, is tried so often.
_TRIES = 2

Say = Callable[[str], None]
Result = SubmissionReport | str


def grade_on_cluster(
    cluster: Cluster,
    parcel: bytes,
    work: Mapping[str, Submission],
    max_score: float,
    finished: Finished,
    say: Say = lambda line: None,
) -> None:
    """Grade submissions by key; `finished` gets each report as soon as it is there."""
    with contextlib.closing(KeptCluster(cluster)) as kept:
        kept.grade(parcel, work, max_score, finished, say)


class KeptCluster:
    """A connection for batch after batch, whose workers keep what they need of the course.

    One batch at a time. After an error the next batch connects anew.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._client: Any = None
        self._leaving = contextlib.ExitStack()
        self._crews: dict[bytes, _Crew] = {}

    def grade(
        self,
        parcel: bytes,
        work: Mapping[str, Submission],
        max_score: float,
        finished: Finished,
        say: Say = lambda line: None,
    ) -> None:
        """Grade submissions by key; `finished` gets each report as soon as it is there."""
        if not work:
            return
        try:
            _ClusterBatch(self._crew(parcel, say), work, max_score, finished).run()
        except BaseException:
            self.close()
            raise

    def _crew(self, parcel: bytes, say: Say) -> _Crew:
        if self._client is None:
            self._client = self._leaving.enter_context(_connected(self._cluster))
        if parcel not in self._crews:
            crew = self._crews[parcel] = _Crew(self._client, parcel, say)
            self._leaving.callback(crew.dismiss)
        return self._crews[parcel]

    def close(self) -> None:
        """Dismiss the workers and leave."""
        leaving, self._leaving = self._leaving, contextlib.ExitStack()
        self._client, self._crews = None, {}
        leaving.close()


@contextmanager
def _connected(cluster: Cluster) -> Iterator[Any]:
    if not installed("cluster"):
        raise KitError("--cluster needs the extra `cluster`: pip install -e '.[cluster]'")
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its errors are told below
    try:
        client = Client(cluster.address, security=_security(cluster), set_as_default=False)
    except (OSError, TimeoutError, TypeError, ValueError, RuntimeError) as error:
        why = str(error.__cause__ or error).strip().split("\n")[0]
        raise KitError(f"no scheduler answers at {cluster.address}: {why}") from None
    try:
        yield client
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.close(timeout=5)


def _security(cluster: Cluster) -> Any:
    from distributed.security import Security

    security: Any = Security()  # from distributed's own configuration
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
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        raise KitError(f"the certificates for {cluster.address} are of no use: {error}") from None
    return security


class _Crew:
    """The workers that can grade this parcel; those that refuse are named once."""

    def __init__(self, client: Any, parcel: bytes, say: Say) -> None:
        self._client, self._parcel, self.say = client, parcel, say
        self.key = key_of(parcel)
        self.resource = RESOURCE + self.key
        self.refusals: dict[str, str] = {}
        self._settled: set[str] = set()

    def executor(self) -> Executor:
        """Runs on any worker that has settled in, on each one thing at a time."""
        executor: Executor = self._client.get_executor(pure=False, resources={self.resource: 1})
        return executor

    def look(self) -> int:
        """Let newcomers settle in; how many workers can grade now."""
        workers = self._workers()
        fit = {a for a, w in workers.items() if w["resources"].get(self.resource)}
        new = [a for a in workers if a not in fit and a not in self.refusals]
        for address, answer in self._settle(new).items():
            if answer == "":
                fit.add(address)
            elif isinstance(answer, OSError):  # it died meanwhile, or is on its way
                continue
            else:
                self.refusals[address] = _reason(answer)
                self.say(f"worker {address} refuses the work: {self.refusals[address]}")
        self._settled |= fit
        return len(fit & workers.keys())

    def _workers(self) -> dict[str, Any]:
        if self._client.status != "running":
            raise _lost()
        info = self._client.sync(self._client.scheduler.identity, n_workers=-1)
        workers: dict[str, Any] = info["workers"]
        return workers

    def _settle(self, addresses: list[str]) -> dict[str, Any]:
        if not addresses:
            return {}
        answers: dict[str, Any] = self._client.run(
            settle_in, self._parcel, workers=addresses, on_error="return"
        )
        return answers

    def dismiss(self) -> None:
        """Have the workers forget the course; those that are gone have no more of it."""
        with contextlib.suppress(Exception):
            here = [a for a in self._workers() if a in self._settled]
            if here:
                self._client.run(leave, self.key, workers=here, on_error="return")


class _ClusterBatch:
    """Submissions on their way: some handed out, some waiting, some tried again."""

    def __init__(
        self, crew: _Crew, work: Mapping[str, Submission], max_score: float, finished: Finished
    ) -> None:
        self._crew, self._work, self._max_score = crew, work, max_score
        self._finished = finished
        self._waiting = deque(work)
        self._alone: deque[str] = deque()
        self._out: dict[Future[Result], tuple[str, str]] = {}  # key and name
        self._tries: dict[str, int] = {}
        self._told: SimpleQueue[Future[Result]] = SimpleQueue()

    def run(self) -> None:
        """Until every submission has a report."""
        executor: Executor | None = None
        looked = fit = 0.0
        try:
            while self._waiting or self._alone or self._out:
                if time.monotonic() - looked >= _LOOK_SECONDS:
                    fit, looked = self._crew.look(), time.monotonic()
                if not fit:
                    self._take_back()
                    self._wait_for_workers()
                    looked = 0.0
                    continue
                executor = executor or self._crew.executor()
                self._hand_out(executor, int(fit) * AHEAD)
                for future in self._ended():
                    if future in self._out:  # else it was taken back
                        self._take(*self._out.pop(future), future)
        except OSError as error:
            raise _lost() from error
        finally:
            self._take_back()

    def _ended(self) -> Iterator[Future[Result]]:
        """Those that have ended meanwhile, however many are out; waits for the first a moment.

        Each is told once. To wait on all of them anew for each that ends would cost the square.
        """
        with contextlib.suppress(Empty):
            yield self._told.get(timeout=_LOOK_SECONDS)
            while True:
                yield self._told.get_nowait()

    def _hand_out(self, executor: Executor, most: int) -> None:
        while self._waiting and len(self._out) < most:
            self._submit(executor, self._waiting.popleft())
        if not self._waiting and not self._out and self._alone:
            self._submit(executor, self._alone.popleft())

    def _submit(self, executor: Executor, key: str) -> None:
        submission = self._work[key]
        future = executor.submit(grade, self._crew.key, submission)
        self._out[future] = key, submission.name
        future.add_done_callback(self._told.put)

    def _take(self, key: str, name: str, future: Future[Result]) -> None:
        from distributed import KilledWorker

        try:
            result = future.result()
        except CancelledError:
            raise _lost() from None
        except KilledWorker:  # it may have been another's doing: next time it runs alone
            result = "the workers that graded it died, again and again"
            again = self._alone
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
            again = self._waiting
        else:
            again = self._waiting
        if isinstance(result, str):
            result = fault(name, self._max_score, result)
        self._tries[key] = self._tries.get(key, 0) + 1
        if result.verdict is Ending.GRADER_FAULT and self._tries[key] < _TRIES:
            again.append(key)
        else:
            self._finished(key, result)

    def _take_back(self) -> None:
        for future, (key, _) in self._out.items():
            future.cancel()
            self._waiting.append(key)
        self._out.clear()

    def _wait_for_workers(self) -> None:
        """Return when a worker can grade; KitError if none can, or none comes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        told = False
        while not self._crew.look():
            if self._crew.refusals:
                reasons = dict.fromkeys(self._crew.refusals.values())
                raise KitError(
                    "every worker of the cluster refuses the work: " + " | ".join(reasons)
                )
            if time.monotonic() > deadline:
                raise KitError(
                    f"no worker came within {PATIENCE_SECONDS:.0f} s: start workers (`dask worker "
                    "ADDRESS --nthreads 1`). What was graded is kept; run the command again then"
                )
            if not told:
                told = True
                self._crew.say("the cluster has no worker now; waiting for one")
            time.sleep(_LOOK_SECONDS)


def _reason(answer: object) -> str:
    if isinstance(answer, ModuleNotFoundError):
        return f"it has no {answer.name}: install the kit there, the version that is here"
    return str(answer) if isinstance(answer, str) else f"{type(answer).__name__}: {answer}"


def _lost() -> KitError:
    return KitError(
        "the connection to the cluster's scheduler was lost. What was graded is kept; run the "
        "command again to grade the rest"
    )
