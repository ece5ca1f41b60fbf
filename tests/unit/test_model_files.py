"""All files in assets/model and the hidden tests' trained.npz come from the same weights."""

from __future__ import annotations

import importlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from tests.courses import PROJECT

FOLDER = PROJECT / "assets" / "model"


@pytest.fixture(scope="module")
def export() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("export")
    sys.path.remove(str(FOLDER))
    for name in ("export", "train"):
        del sys.modules[name]


def arrays(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def shipped() -> dict[str, np.ndarray]:
    return arrays(FOLDER / "austen.npz")


@pytest.fixture(scope="module")
def model(export: Any, shipped: dict[str, np.ndarray]) -> Any:
    model = export.train.Model()
    model.load_state_dict({name: torch.tensor(x) for name, x in shipped.items() if "." in name})
    return model


def test_a_new_export_equals_the_recorded_heads(
    export: Any, model: Any, shipped: dict[str, np.ndarray], tmp_path: Path
) -> None:
    merges = [tuple(pair) for pair in shipped["merges"].tolist()]
    export.write_heads(model, merges, tmp_path)
    pieces = export.pieces_of(merges)
    text = arrays(FOLDER / "text.npz")
    assert np.array_equal(text["pieces"], np.array(pieces))
    export.write_layer(model, torch.tensor(text["held_out"].astype(int)), pieces, tmp_path)
    export.write_hidden(model, merges, tmp_path)
    old = [FOLDER / "heads.npz", FOLDER / "layer.npz"]
    old += (PROJECT / "autograder" / "graders").glob("*/trained.npz")
    assert len(old) == 2 + len(export.TESTED)
    for path in old:
        given, new = arrays(path), arrays(tmp_path / path.name)
        assert given.keys() == new.keys()
        for name, x in given.items():
            same = np.allclose(x, new[name], atol=1e-4) if x.dtype.kind == "f" else (x == new[name])
            assert np.all(same), f"{path}: {name}"


def test_the_program_computes_the_logits_of_the_weights(model: Any) -> None:
    program = torch.export.load(FOLDER / "austen.pt2").module()
    ids = torch.randint(2048, (3, 50), generator=torch.Generator().manual_seed(0))
    mask = torch.ones(50, 50, dtype=torch.bool).tril()
    with torch.no_grad():
        logits, weights = program(ids, mask, torch.ones(4, 6))
        torch.testing.assert_close(logits, model(ids), atol=1e-3, rtol=1e-3)
        ablated, _ = program(ids, mask, torch.zeros(4, 6))
    assert weights.shape == (4, 3, 6, 50, 50)
    assert (weights.triu(1) == 0).all()
    assert not torch.allclose(logits, ablated, atol=0.1)


def test_the_program_contains_no_source() -> None:
    with zipfile.ZipFile(FOLDER / "austen.pt2") as archive:
        for name in archive.namelist():
            assert b"export.py" not in archive.read(name), name
