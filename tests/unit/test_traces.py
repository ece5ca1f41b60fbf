"""Where values of a wrong program leave those of right ones; all of it in this process."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from autograder.grading.diagnosis.probes import Probe
from autograder.grading.localization.trace_values import ReferenceTraces
from autograder.grading.localization.traces import OwnPrograms, Traces
from autograder.grading.running.disk_cache import KeptRuns
from autograder.grading.targets.in_process import InProcess
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Encoder

SOLUTION = """import torch

def f(q, k):
    scores = q @ k.mT
    scores = scores / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)
"""
OTHER_WAY = """import torch

def f(q, k):
    e = torch.exp(torch.einsum("nd,md->nm", q, k) / q.shape[-1] ** 0.5)
    return e / e.sum(-1, keepdim=True)
"""
BANK = {
    "no_scale": SOLUTION.replace("    scores = scores / q.shape[-1] ** 0.5\n", ""),
    "over_queries": SOLUTION.replace("dim=-1", "dim=-2"),
}
OWN_WORDS = """import torch

def f(a, b):
    width = a.size(1)
    table = torch.einsum("id,jd->ij", a, b)
    e = (table / width ** 0.5).exp()
    total = e.sum(0, keepdim=True)
    return e / total
"""


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    return compared(tmp_path, [SOLUTION, OTHER_WAY], BANK)


def compared(
    tmp_path: Path, right: list[str], bank: dict[str, str], kept: KeptRuns | None = None
) -> Traces:
    def target(source: str) -> InProcess:
        folder = tmp_path / str(abs(hash(source)))
        folder.mkdir(exist_ok=True)
        (folder / "m.py").write_text(source)
        return InProcess(folder / "m.py")

    notes = ReferenceTraces("f", kept)
    made = Traces("f", OwnPrograms(lambda: right, tuple(bank), bank.__getitem__, target, notes))
    made.target, made.references = target, notes
    return made


def probe(name: str = "test_values", seed: int = 0) -> Probe:
    torch.manual_seed(seed)
    encoder = Encoder()
    args = tuple(encoder(torch.randn(n, 3)) for n in (4, 5))
    frame = frames.pack(frames.Call("f", None, "f", args, {}, "cpu", fresh=True), encoder.buffers)
    return Probe(name, [(frame, (frames.Reply("ok"), []))])


def hints(traces: Traces, source: str, *names: str):
    return traces.hints(source, frozenset(), traces.target, [probe()], names)


def test_a_line_is_odd_where_its_value_is_no_right_programs(traces):
    found = hints(traces, OWN_WORDS)
    assert ("f", 7) in found.odd
    assert ("f", 5) in found.right


def test_a_named_mistake_is_where_what_makes_its_value_leaves_the_right_ones(traces):
    assert hints(traces, OWN_WORDS, "over_queries").named == (("over_queries", ("f", 7)),)


def test_of_a_missing_step_the_place_is_told(traces):
    wrong = SOLUTION.replace("    scores = scores / q.shape[-1] ** 0.5\n", "")
    assert ("f", 4) in hints(traces, wrong).odd  # what should have been scaled


def test_a_value_that_one_mistake_alone_makes_names_it(traces):
    twice = OWN_WORDS.replace("return e / total", "return (e / total).double()")
    found = traces.hints(twice, frozenset(), traces.target, [probe(), probe("again", 2)], ())
    assert found.seen_misconceptions == ("over_queries",)
    alone = hints(traces, twice)
    assert [x.name for x in alone.likely if x.seen] == ["over_queries"]
    assert alone.seen_misconceptions == ()  # one test is no test


TWO_PARTS = """import torch

def f(q, k):
    scores = (q @ k.mT) / q.shape[-1] ** 0.5
    centred = q - q.mean(0)
    return torch.softmax(scores, dim=-1).sum() * centred.relu()
"""


def seen_twice(tmp_path: Path, source: str, right: str, **bank: str) -> tuple[str, ...]:
    traces = compared(tmp_path, [right], bank)
    asked = [probe(), probe("again", 2)]
    return traces.hints(source, frozenset(), traces.target, asked, ()).seen_misconceptions


def test_two_mistakes_that_are_seen_in_two_places_have_two_names(tmp_path):
    multiplies = TWO_PARTS.replace("/ q", "* q")
    named = seen_twice(
        tmp_path,
        multiplies.replace("mean(0)", "mean()"),
        TWO_PARTS,
        multiplies=multiplies,
        takes_one_mean=TWO_PARTS.replace("mean(0)", "mean()"),
        takes_no_mean=TWO_PARTS.replace("q - q.mean(0)", "q * 1.0"),
    )
    assert sorted(named) == ["multiplies", "takes_one_mean"]


def test_what_two_mistakes_have_in_common_names_neither(tmp_path):
    over = SOLUTION.replace(
        "return torch.softmax(scores, dim=-1)", "p = scores.exp()\n    return p"
    )
    both = over.replace("return p", "return p / p.sum()")
    wrong = SOLUTION.replace("return torch.softmax(scores, dim=-1)", "return scores.exp() ** 2")
    named = seen_twice(tmp_path, wrong, SOLUTION, leaves_the_sum=over, sums_all=both)
    assert named == ()


def test_a_step_on_another_mistakes_way_does_not_name_it(tmp_path):
    way = SOLUTION.replace("return torch.softmax(scores, dim=-1)", "return scores.tanh() * 3")
    wrong = SOLUTION.replace("return torch.softmax(scores, dim=-1)", "return scores.tanh()")
    assert seen_twice(tmp_path, wrong, SOLUTION, triples=way) == ()
    assert seen_twice(tmp_path, wrong, SOLUTION, triples=way, bends=wrong) == ("bends",)


def test_right_code_betrays_nothing(traces):
    right = OWN_WORDS.replace("sum(0", "sum(1")
    found = hints(traces, right)
    assert found.seen_misconceptions == ()
    assert hints(traces, right, "over_queries").named == ()


def test_what_cannot_be_run_says_nothing(traces):
    found = hints(traces, "def f(:\n")
    assert not found.odd
    assert not found.named


DRAWS = """import numpy as np
import torch

def f(q, k):
    rng = np.random.default_rng(1)
    one = rng.normal(size=(3, 4))
    two = rng.normal(size=(3, 5))
    return (q.numpy() @ one).sum() + (q.numpy() @ two).sum()
"""
DRAWS_ANEW = """import numpy as np
import torch

def draw(width):
    made = np.random.default_rng(1)
    return made.normal(size=(3, width))

def f(q, k):
    return (q.numpy() @ draw(4)).sum() + (q.numpy() @ draw(5)).sum()
"""


def test_what_a_generator_draws_depends_on_where_it_was_made(tmp_path):
    seed = "    rng = np.random.default_rng(1)\n"
    restarts = DRAWS.replace("    two =", f"{seed}    two =")
    found = hints(compared(tmp_path, [DRAWS], {"restarts": restarts}), DRAWS_ANEW, "restarts")
    assert found.named == (("restarts", ("draw", 5)),)


MASKED = """import torch

def look(q, k, mask):
    scores = q @ k.mT
    if mask is not None:
        scores = scores.masked_fill(mask, 0.0)
    return torch.softmax(scores, dim=-1)

def f(q, k):
    mask = torch.ones(4, 5)
    mask = mask.triu(1).bool()
    return look(q, k, mask)
"""


def test_no_line_is_told_of_what_takes_a_mask_that_may_be_none(tmp_path):
    given = "    mask = torch.ones(4, 5)\n    mask = mask.triu(1).bool()\n"
    for instead, places in {"    mask = None\n": (), "": (("no_mask", ("f", 10)),)}.items():
        called = "return look(q, k, mask)" if instead else "return look(q, k, None)"
        wrong = MASKED.replace(given, instead).replace("return look(q, k, mask)", called)
        traces = compared(tmp_path, [MASKED], {"no_mask": wrong})
        found = traces.hints(wrong, frozenset({"look"}), traces.target, [probe()], ("no_mask",))
        assert found.named == places


def test_the_line_is_told_if_the_mask_was_there_all_the_time(tmp_path):
    bank = {"turned": MASKED.replace("scores.masked_fill(mask,", "scores.masked_fill(~mask,")}
    traces = compared(tmp_path, [MASKED], bank)
    found = traces.hints(bank["turned"], frozenset(), traces.target, [probe()], ("turned",))
    assert found.named == (("turned", ("look", 6)),)


COUNTS = """import torch

def f(q, k):
    places = 7 + torch.arange(4)
    seen = places[:, None] * torch.ones(4, 3)
    return q * seen
"""


def test_the_first_value_that_leaves_the_right_ones_is_that_of_the_same_mistake(tmp_path):
    bank = {"from_zero": COUNTS.replace("7 + torch.arange(4)", "+torch.arange(4) * 3")}
    own = COUNTS.replace("7 + torch.arange(4)", "torch.arange(4) * 3 + 0 * 5")
    found = hints(compared(tmp_path, [COUNTS], bank), own, "from_zero")
    assert found.named == (("from_zero", ("f", 4)),)


def test_a_value_that_is_one_number_everywhere_tells_of_no_mistake(tmp_path):
    right = COUNTS.replace("7 + torch.arange(4)", "torch.arange(4)")
    nothing = right.replace("seen = places[:, None] * torch.ones(4, 3)", "seen = torch.zeros(4, 3)")
    other = right.replace(
        "return q * seen", "none = torch.zeros(4, 3)\n    return none.exp() * q + 1"
    )
    found = hints(compared(tmp_path, [right], {"zeros": nothing}), other, "zeros")
    assert found.named == ()


COUNTED = """import torch

class Adds:
    def __init__(self):
        self.more = 1.0

    def __call__(self, x):
        return x.exp() + self.more

def f(q, k):
    model = Adds()
    model.more = 2.0
    return model(q) * k[:1]
"""


def test_no_line_is_told_of_a_call_of_what_has_a_state(tmp_path):
    forgets = COUNTED.replace("    model.more = 2.0\n", "")
    traces = compared(tmp_path, [COUNTED], {"forgets": forgets})
    given = frozenset({"Adds"})
    found = traces.hints(forgets, given, traces.target, [probe()], ("forgets",))
    assert found.named == ()


IN_BLOCKS = """import torch

def f(q, k):
    total = torch.zeros(4)
    for i in range(0, k.shape[0], 2):
        total = total + (q @ k[i : i + 2].mT).exp().sum(-1)
    return q / total[:, None]
"""
WITH_A_HELPER = """import torch

def totals(q, k):
    return (q @ k.mT).exp().sum(-1)

def f(q, k):
    return q / totals(q, k)[:, None]
"""
BLOCKS_IN_OWN_WORDS = """import torch

def f(a, b):
    count = b.shape[0] // 2
    s = torch.zeros(4)
    for j in range(count):
        part = b[2 * j : 2 * j + 2]
        s = s + torch.exp(a @ part.mT).sum(1)
    return a / s[:, None]
"""


@pytest.mark.parametrize("solution", [IN_BLOCKS, WITH_A_HELPER])
def test_of_a_loop_that_ends_too_soon_the_loop_is_told(tmp_path, solution):
    bank = {
        "last_block_dropped": IN_BLOCKS.replace("k.shape[0],", "k.shape[0] // 2 * 2,"),
        "first_alone": IN_BLOCKS.replace("k[i : i + 2]", "k[:2]"),
        "no_exp": IN_BLOCKS.replace(".exp()", ""),
        "a_mean": IN_BLOCKS.replace(".sum(-1)", ".mean(-1)"),
        "starts_at_one": IN_BLOCKS.replace("zeros", "ones"),
    }
    traces = compared(tmp_path, [solution, IN_BLOCKS], bank)
    found = hints(traces, BLOCKS_IN_OWN_WORDS, "last_block_dropped")
    assert found.named == (("last_block_dropped", ("f", 6)),)


def test_of_a_value_that_comes_too_soon_the_line_that_gives_it_is_told(tmp_path):
    right = """import torch

def last(x):
    return x.cumsum(0)

def f(q, k):
    return last(torch.relu(q.sum(0) - k.sum(0)))
"""
    bank = {"nothing_left_out": right.replace("torch.relu(q.sum(0) - k.sum(0))", "q.sum(0)")}
    student = """import torch

def f(a, b):
    mine = a.sum(0)
    if b.shape[0] > 1000:
        end = mine - 1
    else:
        end = mine
    return torch.cumsum(end, 0)
"""
    found = hints(compared(tmp_path, [right], bank), student, "nothing_left_out")
    assert found.named == (("nothing_left_out", ("f", 8)),)


class Ran(InProcess):
    """Counts the requests that programs of ours are asked."""

    asked = 0

    def request(self, frame):
        Ran.asked += 1
        return super().request(frame)


def own_requests(tmp_path: Path, depends: bytes, seed: int = 0, text: str = SOLUTION):
    """The hints of one process that grades, and how often it asked programs of our own."""
    kept = KeptRuns(tmp_path / "bank", depends)
    made = compared(tmp_path, [text, OTHER_WAY], BANK, kept)
    student, Ran.asked = made.target, 0
    own = made._own
    made._own = dataclasses.replace(own, target=lambda source: Ran(own.target(source).path))
    found = made.hints(OWN_WORDS, frozenset(), student, [probe(seed=seed)], ("no_scale",))
    made.references.keep()
    return found, Ran.asked


def test_what_our_own_programs_noted_a_later_process_does_not_ask_again(tmp_path):
    first, asked = own_requests(tmp_path, b"v1")
    again, asked_again = own_requests(tmp_path, b"v1")
    assert asked > asked_again == 0
    assert again == first


def test_another_version_another_input_or_another_program_is_asked(tmp_path):
    _, asked = own_requests(tmp_path, b"v1")
    assert own_requests(tmp_path, b"v2")[1] == asked
    assert own_requests(tmp_path, b"v2", seed=1)[1] == asked
    assert 0 < own_requests(tmp_path, b"v2", text=SOLUTION + "\nX = 1\n")[1] < asked


def test_notes_that_cannot_be_read_are_asked_for_again(tmp_path):
    _, asked = own_requests(tmp_path, b"v1")
    (file,) = (tmp_path / "bank").glob("*.notes")
    file.write_bytes(file.read_bytes()[:-3])
    assert own_requests(tmp_path, b"v1")[1] == asked


PADDED = """import torch

def f(q, k):
    before = torch.cat([torch.zeros_like(q[:1]), q[:-1]])
    return torch.cat([before, q]).sum(0) * k.mean()
"""
ROLLED = """import torch

def f(q, k):
    return torch.cat([torch.roll(q, 1, 0) * 2, q]).sum(0) * k.mean()
"""
ROLLED_BEFORE = """import torch

def f(q, k):
    shifted = torch.roll(q, 1, 0) * 2
    both = torch.cat([shifted, q])
    return both.sum(0) * k.mean()
"""


def test_of_a_mistake_that_is_written_in_two_lines_the_first_is_told(tmp_path):
    """The named mistake makes in one statement what the student's makes in two."""
    traces = compared(tmp_path, [PADDED], {"is_a_ring": ROLLED})
    assert hints(traces, ROLLED_BEFORE, "is_a_ring").named == (("is_a_ring", ("f", 4)),)


TABLE = """import torch

def f(q, k):
    head = " " * 3 + "".join(f"{n:>3}" for n in range(len(k)))
    levels = [int(x * 4) for x in q[:, 0].abs()]
    return "\\n".join([head, *map(str, levels)])
"""


def test_texts_and_lists_are_values_where_one_is_given_back(tmp_path):
    no_corner = TABLE.replace('" " * 3 + ', "")
    rounds = TABLE.replace("int(x * 4)", "round(float(x) * 4)")
    traces = compared(tmp_path, [TABLE], {"no_corner": no_corner, "rounds": rounds})
    assert hints(traces, no_corner, "no_corner").named == (("no_corner", ("f", 4)),)
    assert hints(traces, rounds, "rounds").named == (("rounds", ("f", 5)),)


def test_what_is_only_said_or_on_the_way_is_no_odd_value(tmp_path):
    talks = OWN_WORDS.replace("    e = ", '    print(f"{a} of {[*b.shape]}")\n    e = ')
    traces = compared(tmp_path, [SOLUTION, OTHER_WAY], BANK)
    said, silent = (hints(traces, s, "over_queries") for s in (talks, OWN_WORDS))
    assert [n for _, (_, n) in said.named] == [n + 1 for _, (_, n) in silent.named]
    assert {n for _, n in said.odd} == {n + 1 for _, n in silent.odd}


def test_a_number_that_no_float_holds_stops_nothing(traces):
    huge = OWN_WORDS.replace("    e = ", "    many = [10**400, 1]\n    e = ")
    assert hints(traces, huge, "over_queries").named == (("over_queries", ("f", 8)),)


FILLS_A_SHAPE = """import torch

def f(q, k):
    shape = [1] * q.ndim
    shape[-1] = q.shape[-1]
    ones = torch.ones(shape)
    scores = (q * ones) @ k.mT
    return torch.softmax(scores / q.shape[-1] ** 0.5, dim=-2)
"""


def test_a_list_that_nobody_else_fills_is_no_mistake(tmp_path):
    lists = OTHER_WAY.replace("    e = ", "    sizes = [*q.shape, 7]\n    e = ")
    traces = compared(tmp_path, [SOLUTION, lists], BANK)
    assert hints(traces, FILLS_A_SHAPE, "over_queries").named == (("over_queries", ("f", 8)),)
