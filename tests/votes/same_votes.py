"""What it means that two `Votes` are the same."""

from __future__ import annotations

import numpy as np

from prefpath import Votes

ARRAYS = ("offsets", "left", "right", "choice", "weight", "count", "position_known")


def assert_same_votes(found: Votes, expected: Votes) -> None:
    """Same labels, same rows; where they came from may differ."""
    assert found.annotators.tolist() == expected.annotators.tolist()
    assert found.items.tolist() == expected.items.tolist()
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
        assert getattr(found, name).dtype == getattr(expected, name).dtype, name
