"""A GPT-2 around the students' attention equals transformers', and `check gpt2`."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from autograder.model.course import Course, load
from autograder.model.course.bank import Bank

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "exercises" / "gpt2"
WEEKS = ("week02_masking", "week03_multihead", "week05_transformer")


@pytest.fixture(scope="module")
def course() -> Course:
    return load(ROOT)


@pytest.fixture
def solved(course: Course, tmp_path: Path) -> Path:
    """Return the folder next to the solved weeks."""
    shutil.copytree(FOLDER, tmp_path / "gpt2", ignore=shutil.ignore_patterns("__pycache__"))
    for name in WEEKS:
        (tmp_path / name).mkdir()
        shutil.copy(course.solution(course.week(name)), tmp_path / name)
    return tmp_path / "gpt2"


@pytest.fixture
def given(solved: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpt2_of_a_test", solved / "gpt2.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def stages_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], list]:
    """Every stage of a folder, in this process."""

    def stages_in(folder: Path) -> list:
        for name in ("gpt2", "stages"):
            spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        for name in ("masking", "multihead"):  # put there by the folder's own code
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return list(module.RealModel(folder).stages())

    return stages_in


@pytest.fixture
def theirs(tmp_path: Path) -> tuple[Any, Path]:
    """A GPT-2 of two layers, drawn at random, as transformers makes and saves it."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.GPT2Config(
        n_layer=2,
        n_head=4,
        n_embd=48,
        vocab_size=101,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.GPT2LMHeadModel(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():  # biases too, which begin as zeros
                parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(tmp_path / "model", safe_serialization=True)
    return model, tmp_path / "model"


def test_the_logits_are_those_of_transformers(given: ModuleType, solved: Path, theirs) -> None:
    model, saved = theirs
    own = given.load(given.weeks_near(solved), saved)
    ids = torch.randint(0, 101, (3, 32), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        difference = (own(ids) - model(ids).logits).abs().max()
    assert difference < 1e-5


def test_names_with_and_without_a_prefix_and_with_masks_are_read(given, solved, theirs) -> None:
    model, _ = theirs
    state = model.state_dict()
    bare = {n.removeprefix("transformer."): x for n, x in state.items() if n != "lm_head.weight"}
    bare["h.0.attn.bias"] = torch.ones(1, 1, 32, 32).tril()
    assert given.converted(bare).keys() == given.converted(state).keys()
    assert "h.0.attn.bias" not in given.converted(bare)


def test_it_writes_what_transformers_writes(given: ModuleType, solved: Path, theirs) -> None:
    model, saved = theirs
    weeks = given.weeks_near(solved)
    ids = torch.tensor([[5, 17, 3]])
    expected = model.generate(
        ids, max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None
    )
    written = weeks["transformer"].generate(given.load(weeks, saved), ids, 12, temperature=0)
    assert torch.equal(written, expected)


def test_a_model_that_is_on_disk_is_found(given: ModuleType, solved: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(solved.parent))
    assert given.model_near(solved) is None
    kept = solved.parent / ".cache/huggingface/hub/models--gpt2/snapshots/abc"
    kept.mkdir(parents=True)
    (kept / "config.json").write_text(json.dumps({}))
    (kept / "model.safetensors").write_bytes(b"")
    assert given.model_near(solved) == kept


def stages(in_process: Callable[..., Any], folder: Path) -> tuple[int, str]:
    done = in_process("check", "gpt2", cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_the_solutions_pass_and_the_weights_are_asked_for(solved: Path, in_process) -> None:
    code, said = stages(in_process, solved)
    assert code == 0, said
    assert said.count("  ✓ ") == 4
    assert "GPT-2's weights are not on this machine" in said


def test_a_mistake_is_found_before_anything_is_downloaded(
    course: Course, solved: Path, in_process
) -> None:
    week = course.week("week03")
    bank = Bank(course, week)
    (found,) = [m for m in bank.misconceptions if m.name == "does_not_scale"]
    (solved.parent / week.name / week.module).write_text(found.source, encoding="utf-8")
    code, said = stages(in_process, solved)
    assert code == 1
    assert "The logits differ from GPT-2's from token 1 on." in said
    assert "`autograder check` in their folders gives details." in " ".join(said.split())


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("scales_by_d_model", "from token 1 on. Token 0 sees only itself, and it is right"),
        ("splits_and_merges_by_view", "from token 0 on. Token 0 sees only itself, so its weight"),
        ("transposes_the_mask", "from token 0 on."),
        ("forgets_the_output_projection", "from token 0 on."),
        ("hides_with_minus_infinity", None),  # wrong for rows without keys, and here there are none
    ],
)
def test_a_wrong_attention_does_not_pass_for_gpt_2(
    course: Course, solved: Path, stages_in: Callable[[Path], list], mistake: str, told: str | None
) -> None:
    week = course.week("week03")
    (found,) = [m for m in Bank(course, week).misconceptions if m.name == mistake]
    (solved.parent / week.name / week.module).write_text(found.source, encoding="utf-8")
    reasons = [s.why for s in stages_in(solved) if not s.passed and not s.skipped]
    assert (told in reasons[0]) if told else reasons == []
