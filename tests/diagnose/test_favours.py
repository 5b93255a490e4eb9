"""The fit with a favour for own items: its derivatives, its minimum, and how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from prefpath import Votes
from prefpath.diagnose.favours import (
    FavourRows,
    _variances,
    contested,
    fit_favours,
    usual_taste,
)
from prefpath.model.losses import as_loss
from prefpath.votes.families import own_items

LOSSES = ["linear", "bradley-terry", "thurstone-mosteller", "huber"]


def crowd(
    n_judges: int = 4, each: int = 150, *, favour: float = 0.0, tastes: float = 0.0, seed: int = 0
) -> tuple[Any, ...]:
    """Columns of votes: as many judges are among six items as there are of these."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=6) + rng.normal(0.0, tastes, (n_judges, 6))
    both = np.arange(min(n_judges, 6))
    seen[both, both] += favour
    judge = np.repeat(np.arange(n_judges), each)
    left = rng.integers(0, 6, len(judge))
    right = (left + rng.integers(1, 6, len(judge))) % 6
    chance = 1.0 / (1.0 + np.exp(seen[judge, right] - seen[judge, left]))
    choice = np.where(rng.random(len(judge)) < chance, 1.0, -1.0)
    names = np.array([f"m{k}" for k in range(max(n_judges, 6))])
    return names[judge], names[left], names[right], choice


def rows_of(votes: Votes) -> FavourRows:
    return FavourRows.of(votes, own_items(votes))


@pytest.mark.parametrize("n_judges", [4, 60])
def test_derivatives_are_differences_of_margins(n_judges):
    """Of sixty judges only those who are items have effects."""
    rows = rows_of(Votes.from_arrays(*crowd(n_judges, 12)))
    assert (rows.n_known, len(rows.owners)) == ((4, 4) if n_judges == 4 else (6, 6))
    at = np.random.default_rng(1).normal(size=rows.n_items + 3 * rows.n_known)
    slopes, h = rows.at(at)[1].toarray(), 1e-6
    for k, step in enumerate(h * np.eye(len(at))):
        by_difference = (rows.at(at + step)[0] - rows.at(at - step)[0]) / (2 * h)
        np.testing.assert_allclose(slopes[:, k], by_difference, atol=1e-8)
    assert (np.abs(slopes).max(axis=0) > 0.0).all()


@pytest.mark.parametrize("name", LOSSES)
def test_the_fit_is_where_nothing_moved_makes_the_loss_less(name):
    loss, rows = as_loss(name), rows_of(Votes.from_arrays(*crowd(favour=1.0)))
    found = fit_favours(rows, loss)

    def height(parameters: np.ndarray) -> float:
        margin, _ = rows.at(parameters)
        lost = rows.weight @ loss.value(margin, rows.choice)
        return float(lost + 0.5 * rows.ridge() @ parameters**2)

    for step in 1e-5 * np.eye(len(found.parameters)):
        up, down = height(found.parameters + step), height(found.parameters - step)
        assert (up - down) / 2e-5 == pytest.approx(0.0, abs=1e-3)
        assert up + down > 2.0 * height(found.parameters)
    assert (found.favour > 0.0).all()
    without = found.margin_without_favour()
    moved = found.parameters.copy()
    moved[rows.favours] = 0.0
    np.testing.assert_array_equal(without, rows.at(moved)[0])


@pytest.mark.parametrize("name", ["linear", "bradley-terry"])
def test_variances_are_those_of_the_whole_matrix(name):
    loss, rows = as_loss(name), rows_of(Votes.from_arrays(*crowd()))
    at = np.random.default_rng(2).normal(0.0, 0.3, rows.n_items + 3 * rows.n_known)
    margin, slopes = rows.at(at)
    x = slopes.toarray()
    bread = np.linalg.inv(
        x.T * rows.weight * loss.curvature(margin, rows.choice) @ x + np.diag(rows.ridge())
    )
    meat = x.T * rows.weight * loss.gradient(margin, rows.choice) ** 2 @ x
    expected = np.diag(bread @ meat @ bread)
    if loss.binary:
        expected = np.maximum(expected, np.diag(bread))
    np.testing.assert_allclose(_variances(rows, loss, at), expected[rows.favours], rtol=1e-8)


def test_weight_2_is_the_vote_twice_and_a_weight_of_one_half_makes_nobody_surer():
    columns, loss = crowd(favour=0.5), as_loss("bradley-terry")
    n = len(columns[0])
    twice = Votes.from_arrays(*(np.tile(column, 2) for column in columns))
    weighed = Votes.from_arrays(*columns, weight=np.full(n, 2.0))
    both = [fit_favours(rows_of(votes), loss) for votes in (twice, weighed)]
    np.testing.assert_allclose(both[0].favour, both[1].favour, rtol=1e-6)
    np.testing.assert_allclose(both[0].error, both[1].error, rtol=1e-6)
    assert usual_taste(both[0], loss) == pytest.approx(usual_taste(both[1], loss), rel=1e-6)
    once = fit_favours(rows_of(Votes.from_arrays(*columns)), loss)
    for weight in (0.5, 2.5):  # what each counts, against the priors: as many votes as before
        votes = Votes.from_arrays(*columns, weight=np.full(n, weight))
        np.testing.assert_allclose(fit_favours(rows_of(votes), loss).error, once.error, rtol=0.05)


def test_what_is_contested():
    votes = Votes.from_arrays(["a"] * 4, list("xyzx"), list("yzwz"), [1, 1, 1, 1])
    own = np.array([votes.item_code("x"), votes.item_code("z")])
    left, right = votes.items[votes.left], votes.items[votes.right]
    expected = {("x", "y"): 1, ("y", "z"): -1, ("z", "w"): 1, ("x", "z"): 0}
    found = dict(zip(zip(left, right, strict=True), contested(votes, 0, own), strict=True))
    assert found == expected


def test_usual_tastes_are_those_that_were_drawn():
    loss = as_loss("bradley-terry")
    for tastes, low, high in ((0.0, 0.0, 0.12), (0.5, 0.35, 0.65)):
        found = [
            usual_taste(fit_favours(rows_of(Votes.from_arrays(*columns)), loss), loss)
            for columns in (crowd(20, 200, tastes=tastes, seed=k) for k in range(3))
        ]
        assert low <= np.mean(found) <= high
