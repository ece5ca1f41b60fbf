"""The nets over numpy's functions, in a process that grades several weeks."""

import numpy as np
import pytest

from autograder.worker.watch import _Noted, module_nets_down, set_nets


@pytest.fixture
def net(monkeypatch):
    monkeypatch.setattr(np, "logaddexp", np.logaddexp)  # put back in the end
    set_nets(("logaddexp*",))


def test_a_library_that_is_imported_meets_numpys_own_function(net):
    assert isinstance(np.logaddexp, _Noted)
    with module_nets_down():
        assert isinstance(np.logaddexp, np.ufunc)
    assert isinstance(np.logaddexp, _Noted)


def test_the_nets_are_up_again_after_an_import_that_failed(net):
    with pytest.raises(ImportError), module_nets_down():
        raise ImportError("no such extra")
    assert isinstance(np.logaddexp, _Noted)
