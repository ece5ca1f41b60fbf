"""What the guard of follow-through found out of a helper, kept for all helpers that answer alike.

Theory of operation. Whether wrong and empty versions of an exercise are told from right ones with a
helper depends on what right code makes of that helper's answers: what the student's own exercise is
compared with. It is asked first, in two processes of the student's that know nothing of each other.
Where both got, bit by bit, the answers that another submission's helper gave to the same questions,
that expectation is the same, and so is what it can tell: the versions are not run again. Whoever
would profit from it has an exercise that gives this very expectation, of which the guard has
already found that empty and wrong ones do not.

Which versions are tried, and in which order, is drawn from the secret and these answers, not from
the text of a submission: another remark does not draw again, and who came first makes no
difference.
"""

from __future__ import annotations

from collections.abc import Callable

from .kept import KeptRuns

_MOST = 1000
Credit = dict[str, float]


class KnownGuards:
    """By a hash of what it depends on, what share of which tests may be inherited.

    asked: how often the versions had to be run. kept: what other processes found.
    """

    def __init__(self, kept: KeptRuns | None = None) -> None:
        self._kept = kept
        self._credit: dict[bytes, Credit] = kept.guards() if kept else {}
        self.asked = 0

    def of(self, key: bytes, ask: Callable[[], Credit | None]) -> Credit:
        """What is known, or else what is found now; None is not kept: there was no time."""
        known = self._credit.get(key)
        if known is not None:
            return known
        self.asked += 1
        credit = ask()
        if credit is not None and len(self._credit) < _MOST:
            self._credit[key] = credit
            if self._kept is not None:
                self._kept.put_guard(key, credit, _MOST)
        return credit or {}
