"""Losses: derivatives, bounds, far margins, ties, and the compiled kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erfcx, expit

from prefpath import SettingError, VoteError, Votes, fit_path
from prefpath.model.losses import (
    LOSSES,
    BradleyTerry,
    Huber,
    Linear,
    Loss,
    SmoothL1,
    ThurstoneMosteller,
    as_loss,
)
from prefpath.model.scalar_losses import GRAM, _logistic, scalar_curvature, scalar_gradient, slopes

ALL: list[Loss] = [
    Linear(),
    BradleyTerry(),
    ThurstoneMosteller(),
    Huber(),
    Huber(0.3),
    SmoothL1(),
    SmoothL1(0.5),
]
BINARY = [loss for loss in ALL if loss.binary]
CHOICES = np.array([-1.0, -0.4, 0.0, 0.4, 1.0])
MARGIN, CHOICE = (
    grid.ravel() for grid in np.meshgrid(np.linspace(-9.03, 9.01, 401), CHOICES, indexing="ij")
)
FAR = np.array([-1e6, -1e4, -300.0, -60.0, -50.0, -49.9, -6.1, 0.0, 6.1, 49.9, 50.0, 300.0, 1e6])

each_loss = pytest.mark.parametrize("loss", ALL, ids=repr)


def away_from_corners(loss: Loss) -> np.ndarray:
    """Huber's curvature jumps: finite differences hold on either side."""
    if not isinstance(loss, Huber):
        return np.ones(len(MARGIN), dtype=bool)
    return np.abs(np.abs(MARGIN - CHOICE) - loss.parameter) > 1e-4


@each_loss
def test_gradient_is_the_derivative_of_the_value(loss):
    h = 1e-5
    numeric = (loss.value(MARGIN + h, CHOICE) - loss.value(MARGIN - h, CHOICE)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(MARGIN, CHOICE), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("loss", "margin", "choice", "value"),
    [
        (Linear(), 2.0, -1.0, 4.5),
        (Huber(), 0.2, 1.0, 0.32),
        (Huber(), 3.0, 1.0, 1.5),
        (Huber(0.5), 3.0, 1.0, 0.875),
        (SmoothL1(0.5), 1.2, 0.0, 0.8),
        (SmoothL1(0.5), 0.4, 0.4, 0.0),
        (BradleyTerry(), 0.0, 1.0, np.log(2.0)),
        (BradleyTerry(), np.log(3.0), 1.0, np.log(4.0 / 3.0)),
        (BradleyTerry(), np.log(3.0), -1.0, np.log(4.0)),
        (BradleyTerry(), np.log(3.0), -0.5, 0.25 * np.log(4.0 / 3.0) + 0.75 * np.log(4.0)),
        (ThurstoneMosteller(), 0.0, -1.0, np.log(2.0)),
        (ThurstoneMosteller(), 1.0, 1.0, -np.log(0.8413447460685429)),
    ],
)
def test_values_by_hand(loss, margin, choice, value):
    """Differences do not see a constant."""
    found = loss.value(np.array([margin]), np.array([choice]))
    assert found == pytest.approx([value], rel=1e-14, abs=1e-15)


@each_loss
def test_curvature_is_the_derivative_of_the_gradient(loss):
    h, here = 1e-5, away_from_corners(loss)
    m, y = MARGIN[here], CHOICE[here]
    numeric = (loss.gradient(m + h, y) - loss.gradient(m - h, y)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(m, y), numeric, rtol=1e-5, atol=1e-8)


@each_loss
def test_bounds_of_the_derivatives_hold_and_are_not_slack(loss):
    fine = np.linspace(-60, 60, 240_001)
    for choice in CHOICES:
        y = np.full_like(fine, choice)
        curvature = loss.curvature(fine, y)
        assert curvature.min() >= 0.0
        assert curvature.max() <= loss.max_curvature * (1 + 1e-12)
        if np.isfinite(loss.max_curvature_change):
            change = np.diff(curvature) / np.diff(fine)
            assert np.abs(change).max() <= loss.max_curvature_change + 1e-9
    tight = loss.curvature(fine, np.ones_like(fine))
    assert tight.max() > 0.99 * loss.max_curvature
    if 0 < loss.max_curvature_change < np.inf:
        assert np.abs(np.diff(tight) / np.diff(fine)).max() > 0.95 * loss.max_curvature_change


@each_loss
def test_both_derivatives_at_once_are_those_one_by_one(loss):
    gradient, curvature = loss.derivatives(MARGIN, CHOICE)
    np.testing.assert_allclose(gradient, loss.gradient(MARGIN, CHOICE), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvature, loss.curvature(MARGIN, CHOICE), rtol=1e-11, atol=1e-15)


def test_hubers_corner_belongs_to_the_parabola():
    for residual, bent in ((0.5, 1.0), (-0.5, 1.0), (np.nextafter(0.5, 1.0), 0.0)):
        assert Huber(0.5).curvature(np.array([residual]), np.zeros(1)) == [bent]
        assert scalar_curvature(Huber.code, 0.5, residual, 0.0) == bent


@each_loss
def test_kernels_equal_the_class(loss):
    m, y = np.concatenate((MARGIN, FAR, FAR)), np.concatenate((CHOICE, FAR * 0 + 1, FAR * 0))
    pairs = list(zip(m, y, strict=True))
    gradient = [scalar_gradient(loss.code, loss.parameter, a, b) for a, b in pairs]
    np.testing.assert_allclose(gradient, loss.gradient(m, y), rtol=1e-9, atol=1e-14)
    curvature = [scalar_curvature(loss.code, loss.parameter, a, b) for a, b in pairs]
    np.testing.assert_allclose(curvature, loss.curvature(m, y), rtol=1e-6, atol=1e-12)


@each_loss
def test_slopes_weigh_a_stretch_of_votes_in_place(loss):
    weight = np.linspace(0.5, 2.0, len(MARGIN))
    start, count = 7, 200
    margin = MARGIN[start : start + count].copy()
    slopes(loss.code, loss.parameter, margin, CHOICE, weight, start, count)
    here = slice(start, start + count)
    expected = weight[here] * loss.gradient(MARGIN[here], CHOICE[here])
    np.testing.assert_allclose(margin, expected, rtol=1e-10, atol=1e-15)


def test_the_logistic_function_without_a_call():
    near = np.linspace(-39.9, 39.9, 4_001)
    found = np.array([_logistic(x) for x in near])
    np.testing.assert_allclose(found, expit(near), rtol=0.0, atol=1e-14)
    for x in (40.0, 41.0, 64.0, 1e3, 1e300):
        assert _logistic(x) == 1.0
        assert 0.0 <= _logistic(-x) < 1e-17


def test_the_logistic_function_is_the_series_of_degree_eight_squared_six_times():
    """Where the result is small, only its own series says whether each term is right."""
    x = np.linspace(-40.0, 40.0, 801)
    series = sum((-x / 64) ** k / math.factorial(k) for k in range(9))
    found = [_logistic(each) for each in x]
    np.testing.assert_allclose(found, 1.0 / (1.0 + series**64), rtol=1e-12, atol=0.0)
    for beyond in (41.0, 1e3, 1e300):
        assert _logistic(-beyond) == found[0]


def test_gram_kernel_is_the_quadratic_form():
    assert scalar_gradient(GRAM, 0.0, 3.5, 1.0) == 3.5
    assert scalar_curvature(GRAM, 0.0, 3.5, 1.0) == 1.0


@each_loss
def test_far_margins_are_finite(loss):
    for choice in CHOICES:
        y = np.full_like(FAR, choice)
        for values in (loss.value(FAR, y), loss.gradient(FAR, y), loss.curvature(FAR, y)):
            assert np.isfinite(values).all()
        compiled = [scalar_gradient(loss.code, loss.parameter, m, choice) for m in FAR]
        bent = [scalar_curvature(loss.code, loss.parameter, m, choice) for m in FAR]
        assert np.isfinite(compiled).all()
        assert np.isfinite(bent).all()
        assert np.all(np.diff(compiled) >= -1e-9)  # convex


@pytest.mark.parametrize("margin", [-1e6, -300.0, -50.1, -49.9, -6.1, -5.9, -1.0, 0.0, 3.0])
def test_thurstone_mosteller_against_the_scaled_error_function(margin):
    loss, m, one = ThurstoneMosteller(), np.array([margin]), np.array([1.0])
    scaled = erfcx(-margin / np.sqrt(2.0))  # exp(x^2 / 2) Phi(x), twice: no tail vanishes in it
    assert loss.value(m, one)[0] == pytest.approx(margin**2 / 2 - np.log(scaled / 2), rel=1e-12)
    hazard = np.sqrt(2.0 / np.pi) / scaled
    assert loss.gradient(m, one)[0] == pytest.approx(-hazard, rel=1e-10)
    assert scalar_gradient(loss.code, 0.0, margin, 1.0) == pytest.approx(-hazard, rel=1e-11)


@pytest.mark.parametrize("margin", [-100.0, -1e3, -1e6])
def test_thurstone_mosteller_bends_like_a_parabola_far_out(margin):
    loss = ThurstoneMosteller()
    series = 1.0 - 1.0 / margin**2 + 6.0 / margin**4
    found = loss.curvature(np.array([margin]), np.array([1.0]))[0]
    assert found == pytest.approx(series, rel=1e-9)
    compiled = scalar_curvature(loss.code, 0.0, margin, 1.0)
    assert compiled == pytest.approx(series, rel=1e-9)


@pytest.mark.parametrize("loss", BINARY, ids=repr)
def test_tie_is_half_a_win_and_half_a_loss(loss):
    m = np.linspace(-8, 8, 33)
    one = np.ones_like(m)
    for function in (loss.value, loss.gradient, loss.curvature):
        half = 0.5 * (function(m, one) + function(m, -one))
        np.testing.assert_allclose(function(m, 0 * one), half, rtol=1e-12, atol=1e-15)


@each_loss
def test_losses_are_symmetric_in_the_sides(loss):
    np.testing.assert_allclose(loss.value(-MARGIN, -CHOICE), loss.value(MARGIN, CHOICE))
    np.testing.assert_allclose(
        loss.gradient(-MARGIN, -CHOICE), -loss.gradient(MARGIN, CHOICE), atol=1e-15
    )
    p = loss.probability(MARGIN)
    np.testing.assert_allclose(p + loss.probability(-MARGIN), 1.0)
    assert np.all(np.diff(loss.probability(np.linspace(-3, 3, 50))) >= 0)


@pytest.mark.parametrize("loss", BINARY, ids=repr)
def test_probability_is_the_likelihood(loss):
    m = np.linspace(-6, 6, 25)
    likelihood = np.exp(-loss.value(m, np.ones_like(m)))
    np.testing.assert_allclose(loss.probability(m), likelihood, rtol=1e-12)


@each_loss
def test_steepest_bounds_every_slope(loss):
    inside = (np.abs(MARGIN) <= 4.0) & (np.abs(CHOICE) <= 0.4)
    slope = np.abs(loss.gradient(MARGIN[inside], CHOICE[inside])).max()
    assert slope <= loss.steepest(4.0, 0.4) <= 1.1 * slope + 1e-9


@each_loss
@pytest.mark.parametrize("reach", [0.5, 2.0, 6.0])
def test_products_with_the_margin_change_no_faster_than_said(loss, reach):
    """The gradient in an attention is a sum of them; the solver trusts these bounds."""
    m = np.linspace(-reach, reach, 4_001)
    slopes = [np.diff(m * loss.gradient(m, np.full_like(m, y))) / np.diff(m) for y in CHOICES]
    largest = np.abs(slopes).max()
    assert largest <= loss.steepest_product(reach, 1.0) + 1e-9
    if isinstance(loss, BradleyTerry) and reach == 6.0:
        assert loss.steepest_product(reach, 1.0) <= 1.001 * largest
    if np.isfinite(loss.max_curvature_change):
        bent = np.abs(np.diff(slopes, axis=1)).max() / (m[1] - m[0])
        assert bent <= loss.most_curved_product(reach) + 1e-6


@pytest.mark.parametrize(
    ("loss", "margin", "slope", "bend"),
    [
        (Linear(), 3.0, 7.0, 2.0),  # 3 + 1 + 1 * 3
        (BradleyTerry(), 1.0, 0.9810585786300049, 0.5),  # sigmoid(1) + 1 / 4
        (BradleyTerry(), 0.0, 0.5, 0.5),
        (BradleyTerry(), 9.0, 1.1, 0.5),
        (ThurstoneMosteller(), 0.0, np.sqrt(2.0 / np.pi), 2.0),
        (ThurstoneMosteller(), 2.0, 2.373215532822843 + 2.0, 2.6),  # hazard at -2
        (SmoothL1(0.5), 2.0, 3.0 / np.sqrt(9.25) + 4.0, 4.0 + 2.0 * 0.86 / 0.25),
    ],
)
def test_bounds_of_products_by_hand(loss, margin, slope, bend):
    """Steepest slope plus curvature times margin; twice the curvature plus its change."""
    assert loss.steepest_product(margin, 1.0) == pytest.approx(slope, rel=1e-12)
    assert loss.most_curved_product(margin) == pytest.approx(bend, rel=1e-12)


@each_loss
def test_pooling_is_exact_where_the_loss_says_so(loss):
    m = np.linspace(-4, 4, 17)
    mixed = 0.3 * loss.gradient(m, np.ones_like(m)) + 0.7 * loss.gradient(m, -np.ones_like(m))
    pooled = loss.gradient(m, np.full_like(m, -0.4))
    assert np.allclose(mixed, pooled) == loss.affine_in_choice


@pytest.mark.parametrize("name", [n for n, loss in LOSSES.items() if loss.binary])
def test_binary_losses_refuse_strengths(name):
    votes = Votes.from_arrays(["a", "a"], ["x", "y"], ["y", "z"], [1.0, 2.5])
    with pytest.raises(VoteError, match=r"choices reach 2\.5"):
        fit_path(votes, loss=name)


def test_unknown_names_and_parameters_are_refused():
    with pytest.raises(SettingError, match="one of linear"):
        as_loss("logit")
    for parameter in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(SettingError, match="above 0"):
            Huber(parameter)
        with pytest.raises(SettingError, match="above 0"):
            SmoothL1(parameter)
    assert as_loss(Huber(0.2)).parameter == 0.2
