"""Every door that a stranger's bytes enter, for fuzzers and property tests to throw things at.

Each function takes bytes, does what the trusted side would do with them, and returns. Any
exception other than the documented errors is a bug.
"""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from autograder.batch.intake import read_submission
from autograder.feedback.render import feedback_page
from autograder.grading.assertions.value_comparison import compare
from autograder.grading.diagnosis.equivalence import same_answers
from autograder.grading.disclosure.allowed_words import AllowedWords
from autograder.grading.disclosure.failure_messages import crashed, forbidden, state_mismatch
from autograder.grading.outcomes import Outcome
from autograder.model.course import Course, Week, load
from autograder.model.report.schema import Verdict, from_json, to_json
from autograder.model.source.reachable import Sources
from autograder.model.source.rules import Rules, refusals, texts_of
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Decoder, Drawing, read_special

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = ("import torch", "def softmax(x, dim=-1):", "    raise ValueError('no')", "")
_BUDGET = 1 << 20


class Provider:
    """Reads decisions from bytes; zeros when they run out."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def pick(self, *choices: Any) -> Any:
        return choices[self.byte() % len(choices)]

    def number(self) -> int:
        few = (0, 1, 2, 3, 5, -1, 2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1, 1 << 27)
        return few[self.byte() % len(few)] if self.byte() % 2 else self.byte()

    def text(self) -> str:
        few = ("", "float32", "cpu", "softmax", "x" * 300, "--5", "\u202e<b>", "it's", "9" * 301)
        if self.byte() % 2:
            return str(few[self.byte() % len(few)])
        return bytes(self.byte() for _ in range(self.byte() % 12)).decode("latin-1")

    def rest(self) -> bytes:
        return self._data[self._at :]

    @property
    def done(self) -> bool:
        return self._at >= len(self._data)


# The wire


def wire_bytes(data: bytes) -> None:
    """A frame as it comes from a socket."""
    try:
        header, body = frames.frame_lengths(data[: frames.PREFIX.size], 1 << 20)
        start = frames.PREFIX.size
        reply, buffers = frames.unpack_reply(
            data[start : start + header], data[start + header :][:body]
        )
    except frames.BadFrame:
        return
    _judge(reply, buffers)


def wire_values(data: bytes) -> None:
    """A well-formed frame that no honest worker would send."""
    p = Provider(data)
    reply = {"message_type": "reply", "status": p.pick("ok", "raised", "state", "missing")}
    reply["value"] = _value(p, 0)
    if p.byte() % 2:
        reply["gradients"] = [_value(p, 0) for _ in range(p.byte() % 3)]
    if p.byte() % 4 == 0:
        names = [p.text(), p.text()]
        reply["raised"] = {"type": p.text(), "bases": names, "message": p.text()}
        reply["raised"] |= {"line": p.number()}
    if p.byte() % 4 == 0:
        reply["mismatch"] = {"missing": [p.text()], "unexpected": [p.text()]}
        reply["mismatch"] |= {"shapes": [[p.text(), [p.number()], [p.number()]]]}
    if p.byte() % 4 == 0:
        effect = {"effect": p.pick("tensor", "mode", p.text()), "argument": p.number()}
        reply |= {"side_effects": [effect]}
        reply["banned"] = [{"call": p.text(), "line": p.pick(None, p.number())}]
        reply["counts"] = {"flops": p.number(), "largest": p.number(), "ops": p.number()}
    body = p.rest()[:4096]
    cut = p.byte() % (len(body) + 1)
    reply["buffers"] = p.pick([cut, len(body) - cut], [len(body)], [-1, len(body) + 1])
    try:
        header = msgspec.msgpack.encode(reply)
    except OverflowError:  # beyond the range of MessagePack
        return
    if len(header) > frames.MAX_HEADER:
        return
    try:
        decoded, buffers = frames.unpack_reply(header, body)
    except frames.BadFrame:
        return
    _judge(decoded, buffers)


def _value(p: Provider, depth: int) -> Any:
    kind = p.byte() % 16 if depth < 6 else p.byte() % 5
    if kind < 5:
        return p.pick(None, True, p.number(), 0.5, float("nan"), p.text())
    shape = [p.number() for _ in range(p.byte() % 4)]
    dtype = p.pick(
        "float32", "float64", "uint8", "bool", "bfloat16", "complex64", "uint16", p.text()
    )
    array = ["a", dtype, shape, p.number(), bool(p.byte() % 2)]
    if kind < 8:
        strides = p.pick(None, [p.number() for _ in shape], [0 for _ in shape])
        device = p.pick("cpu", "meta", "fake_gpu", p.text())
        return ["t", dtype, shape, strides, device, p.pick(None, p.number()), bool(p.byte() % 2)]
    if kind == 8:
        return array
    if kind < 11:
        items = [_value(p, depth + 1) for _ in range(p.byte() % 4)]
        # many items at one depth only: nine times nine times … is bounded, and slow to fuzz
        return ["s", p.pick("tuple", "list"), items * (p.pick(1, 1, 1, 9) if depth == 1 else 1)]
    if kind == 11:
        keys = [p.pick(p.text(), p.number()) for _ in range(p.byte() % 3)]
        return ["m", keys, [_value(p, depth + 1) for _ in range(p.byte() % 3)]]
    if kind == 12:
        return ["i", p.pick(p.text(), "9" * 300, "-1", "--1", "\u0663")]
    if kind == 13:
        state = p.pick(None, {p.text(): [p.text(), [p.number()]]})
        return p.pick(["h", p.number(), p.text(), state], ["o", p.text()], ["x", "device", None])
    image = ["im", array, bool(p.byte() % 2), p.pick(None, 0.0, float("nan")), 1.0]
    labels = [p.text(), p.text(), p.text(), [p.text()], [p.text()], True, False]
    drawing = ["d", [image] * (p.byte() % 3), *labels]
    return p.pick(drawing, ["f", [drawing], p.text(), False])


@cache
def _expected() -> tuple[Any, ...]:
    x = torch.arange(6.0).reshape(2, 3)
    drawing = Drawing((), "Key", "Query", "", (), (), False)
    return (
        x,
        x.bool(),
        x.numpy(),
        np.float64(1),
        (x, x),
        {"a": x},
        "text",
        3,
        0.5,
        True,
        None,
        drawing,
    )


def _judge(reply: frames.Reply, buffers: list[memoryview]) -> None:
    """Process a reply as the trusted side does."""
    words = AllowedWords(SOURCE)
    texts = [forbidden(reply.banned, "softmax.py", words).message] if reply.banned else []
    if reply.raised is not None:
        texts.append(crashed("softmax", reply.raised, "softmax.py", SOURCE).message)
    if reply.mismatch is not None:
        texts.append(state_mismatch(reply.mismatch, "Module", words, {"weight": (4, 8)}).message)
    for text in texts:
        assert len(text) < 5000
        assert all(c.isprintable() or c == "\n" for c in text)
    same_answers([(reply, buffers)], [(reply, buffers)])
    decoder = Decoder(buffers, special=read_special, without_data=False, budget=_BUDGET)
    try:
        values = [decoder(v) for v in (reply.value, *(reply.gradients or ()))]
    except frames.BadFrame:
        return
    for value in values:
        for expected in _expected():
            assert len(_compared(value, expected)) <= 2000


def _compared(value: Any, expected: Any) -> str:
    try:
        compare(value, expected, expected)
    except Outcome as outcome:
        return outcome.message
    return ""


# Intake


@cache
def _course() -> tuple[Course, Week]:
    course = load(PROJECT)
    return course, course.week("1")


@cache
def _place() -> Path:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory))


def _take(path: Path) -> None:
    course, week = _course()
    limits = course.limits(week)
    submission = read_submission(path, week, limits)
    assert submission.name.isprintable()
    if submission.problem:
        assert not submission.files
        assert submission.problem.isprintable()
        return
    assert sum(map(len, submission.files.values())) <= limits.submission_mib << 20
    for name in submission.files:
        assert not name.startswith("/")
        assert ".." not in name.split("/")


def intake_bytes(data: bytes) -> None:
    """An archive of any bytes."""
    path = _place() / "submission.zip"
    path.write_bytes(data)
    _take(path)


def intake_archive(data: bytes) -> None:
    """An archive that was made well and then damaged in a few places."""
    p = Provider(data)
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", p.pick(zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)) as archive:
        for _ in range(1 + p.byte() % 3):
            name = p.pick("softmax.py", "a/softmax.py", "../x.py", "/x.py", "x.txt", p.text())
            info = zipfile.ZipInfo(str(name) or "x")
            if info.filename in archive.namelist():
                continue
            info.external_attr = p.pick(0, stat.S_IFLNK, stat.S_IFREG, stat.S_IFIFO) << 16
            archive.writestr(info, p.pick(b"x = 1", b"", b"PK\x03\x04", bytes(9000), p.text()))
    content = bytearray(raw.getvalue())
    while not p.done:
        place = struct.unpack("<H", bytes((p.byte(), p.byte())))[0] % len(content)
        content[place] = p.byte()
    intake_bytes(bytes(content))


def intake_module(data: bytes) -> None:
    """A module file of any bytes, and the look at its source."""
    path = _place() / "softmax.py"
    path.write_bytes(data)
    _take(path)
    rules = {"softmax": Rules((), ("numpy*",))}
    texts = texts_of({"softmax.py": data + b"\nimport gc\n"})
    refusals(Sources(texts, "softmax.py"), rules)


# Reports


def report_bytes(data: bytes) -> None:
    """A report that another tool, or a full disk, has spoilt."""
    try:
        report = from_json(data)
    except msgspec.MsgspecError:
        return
    assert from_json(to_json(report)) == report


def report_values(data: bytes) -> None:
    """Build the page of a valid report with hostile texts; none may become markup."""
    p = Provider(data)
    test = {"name": p.text(), "verdict": p.pick(*Verdict)}
    test |= {
        "weight": 1.0,
        "message": p.text() + p.pick("", "<script>", "`<b>`"),
        "claim": p.text(),
    }
    exercise = {"name": p.pick("softmax", p.text()), "score": p.pick(0, 1.5, -1, 1e300)}
    exercise |= {"max_score": 2, "tests": [test] * (p.byte() % 4), "diagnosis": [p.text()]}
    submission = {"name": p.text(), "verdict": p.pick("graded", "refused", "grader_fault")}
    submission |= {"score": 1, "max_score": p.pick(13, 0), "seconds": 0.1, "message": p.text()}
    report = {"week": p.text(), "devices": [p.text()], "submissions": [submission]}
    submission["exercises"] = [exercise] * (p.byte() % 3)
    decoded = from_json(json.dumps(report))
    if p.byte() % 16 == 0:
        course, week = _course()
        page = feedback_page(decoded.submissions[0], week, course)
        assert "<script" not in page
        assert "<b>" not in page


ALL = (
    wire_bytes,
    wire_values,
    intake_bytes,
    intake_archive,
    intake_module,
    report_bytes,
    report_values,
)


def seeds(name: str) -> list[bytes]:
    """Well-formed inputs from which a fuzzer starts."""
    if name == "wire_bytes":
        from autograder.worker.protocol.values import Encoder

        encoder = Encoder()
        things = [torch.ones(2, 3), np.ones(3), [1, "x", {"a": 2.5}], 2**70, torch.ones(3, 2).T]
        value = encoder(things)
        return [frames.pack(frames.Reply("ok", value=value), encoder.buffers)]
    if name == "intake_bytes":
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("week/softmax.py", "x = 1\n" * 20)
        return [raw.getvalue()]
    if name == "intake_module":
        return [(PROJECT / "exercises/week01_softmax/softmax.py").read_bytes()[:2000]]
    if name == "report_bytes":
        return [
            b'{"week":"w","devices":["cpu"],"submissions":[{"name":"a","verdict":"graded",'
            b'"score":1,"max_score":2,"seconds":0.1,"exercises":[]}]}'
        ]
    return [bytes(range(64))]
