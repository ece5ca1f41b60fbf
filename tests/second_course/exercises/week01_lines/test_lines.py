"""Public checks for week 1: small examples with known answers. Run them with `pytest`."""

import numpy as np


def test_predict_by_hand():
    from lines import predict

    found = predict(np.array([0.0, 1.0]), 2.0, 5.0)
    assert np.allclose(found, [5.0, 7.0]), f"at 0 and 1 the line 2x + 5 has 5 and 7, not {found}"


def test_fit_line_by_hand():
    from lines import fit_line

    found = fit_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    assert np.allclose(found, (2.0, 1.0)), f"these points lie on 2x + 1, not on {found}"
