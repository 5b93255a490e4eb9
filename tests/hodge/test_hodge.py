"""HodgeRank against dense algebra, known graphs and its own invariances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import norm

from prefpath.errors import VoteError, VoteWarning
from prefpath.hodge import HodgeDecomposition, hodge_decompose, hodge_rank, local, triangles
from prefpath.votes import Votes

TRANSFORMS = ("uniform", "bradley-terry", "thurstone-mosteller", "angular")


def votes_of(rows, n_items: int | None = None, weight=None) -> Votes:
    """Votes of one annotator from rows (left, right, choice) of item numbers."""
    left, right, choice = (np.array(column) for column in zip(*rows, strict=True))
    size = n_items or int(max(left.max(), right.max())) + 1
    names = [f"item {k:03d}" for k in range(size)]
    items = np.array(names)
    return Votes.from_arrays(
        ["ann"] * len(left), items[left], items[right], choice, weight, items=items
    )


def random_votes(n_items: int, n_votes: int, seed: int, share: float = 1.0) -> Votes:
    """Votes on a random graph that has a given share of all pairs."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.combinations(range(n_items), 2)))
    pairs = pairs[rng.random(len(pairs)) < share]
    drawn = rng.permuted(pairs[rng.integers(0, len(pairs), n_votes)], axis=1)
    choice = rng.choice([1, -1, 0], n_votes, p=[0.5, 0.35, 0.15])
    return votes_of(np.column_stack([drawn, choice]), n_items)


@st.composite
def small_votes(draw) -> Votes:
    n_items = draw(st.integers(2, 7))
    vote = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_items - 1), st.sampled_from([1, -1, 0])
    ).filter(lambda row: row[0] != row[1])
    return votes_of(draw(st.lists(vote, min_size=1, max_size=40)), n_items)


def dense_parts(parts: HodgeDecomposition) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and local part by pseudo-inverses of explicit matrices."""
    n_pairs = len(parts.first)
    place = {(i, j): e for e, (i, j) in enumerate(zip(parts.first, parts.second, strict=True))}
    gradient = np.zeros((n_pairs, len(parts.items)))
    gradient[np.arange(n_pairs), parts.first] = 1
    gradient[np.arange(n_pairs), parts.second] = -1
    rows = [
        (place[i, j], place[j, k], place[i, k])
        for i, j, k in itertools.combinations(range(len(parts.items)), 3)
        if {(i, j), (j, k), (i, k)} <= place.keys()
    ]
    curl = np.zeros((len(rows), n_pairs))
    for row, (ij, jk, ik) in enumerate(rows):
        curl[row, [ij, jk, ik]] = 1, 1, -1
    root = np.sqrt(parts.weight)
    scaled = root * parts.flow
    down, up = root[:, None] * gradient, curl.T / root[:, None]
    project = [matrix @ np.linalg.pinv(matrix) @ scaled / root for matrix in (down, up)]
    return project[0], project[1]


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_parts_equal_dense_projections(transform, share):
    parts = hodge_decompose(random_votes(14, 300, seed=int(100 * share), share=share), transform)
    gradient, local_flow = dense_parts(parts)
    assert_allclose(parts.gradient, gradient, atol=1e-10)
    assert_allclose(parts.local, local_flow, atol=1e-10)
    assert_allclose(parts.harmonic, parts.flow - gradient - local_flow, atol=1e-10)


def check_orthogonal_and_complete(parts: HodgeDecomposition) -> None:
    total = parts.energy.total
    assert_allclose(parts.gradient + parts.local + parts.harmonic, parts.flow, atol=1e-12)
    for one, other in itertools.combinations((parts.gradient, parts.local, parts.harmonic), 2):
        assert abs(parts.weight @ (one * other)) <= 1e-10 * total
    summed = parts.energy.gradient + parts.energy.local + parts.energy.harmonic
    assert_allclose(summed, total, rtol=1e-10)


@given(small_votes(), st.sampled_from(TRANSFORMS))
def test_energies_add_up(votes, transform):
    parts = hodge_decompose(votes, transform)
    check_orthogonal_and_complete(parts)
    sums = np.bincount(parts.component, weights=parts.scores)
    assert_allclose(sums, 0, atol=1e-12)


@given(small_votes(), st.sampled_from(TRANSFORMS), st.randoms(use_true_random=False))
def test_relabelling_permutes(votes, transform, random):
    order = list(range(votes.n_items))
    random.shuffle(order)
    renamed = Votes.from_codes(
        votes.annotator,
        np.array(order, np.int32)[votes.left],
        np.array(order, np.int32)[votes.right],
        votes.choice,
        votes.weight,
        annotators=votes.annotators,
        items=votes.items,
    )
    before, after = hodge_decompose(votes, transform), hodge_decompose(renamed, transform)
    assert_allclose(after.scores[order], before.scores, atol=1e-9)
    for part in ("gradient", "local", "harmonic"):
        expected = getattr(before.energy, part)
        assert_allclose(getattr(after.energy, part), expected, atol=1e-9)


@given(small_votes(), st.sampled_from(TRANSFORMS))
def test_swapping_sides_changes_nothing(votes, transform):
    swapped = Votes.from_codes(
        votes.annotator,
        votes.right,
        votes.left,
        -votes.choice,
        votes.weight,
        annotators=votes.annotators,
        items=votes.items,
    )
    before, after = hodge_decompose(votes, transform), hodge_decompose(swapped, transform)
    assert_allclose(after.flow, before.flow, atol=1e-12)
    assert_allclose(after.scores, before.scores, atol=1e-12)
    assert_allclose(after.harmonic, before.harmonic, atol=1e-12)


@given(small_votes(), st.sampled_from(TRANSFORMS))
def test_weight_two_is_the_row_twice(votes, transform):
    columns = (votes.annotator, votes.left, votes.right, votes.choice)
    labels = {"annotators": votes.annotators, "items": votes.items}
    doubled = Votes.from_codes(*columns, 2 * votes.weight, **labels)
    twice = Votes.from_codes(
        *(np.concatenate([c, c]) for c in columns), np.tile(votes.weight, 2), **labels
    )
    assert_allclose(
        hodge_decompose(doubled, transform).flow, hodge_decompose(twice, transform).flow
    )


@given(small_votes())
def test_a_tie_is_half_and_half(votes):
    tie = votes.choice == 0
    choice = np.concatenate([np.where(tie, 1.0, votes.choice), np.full(tie.sum(), -1.0)])
    weight = np.concatenate([np.where(tie, 0.5, 1.0) * votes.weight, 0.5 * votes.weight[tie]])
    rows = np.concatenate([np.arange(votes.n_rows), np.flatnonzero(tie)])
    split = Votes.from_codes(
        votes.annotator[rows],
        votes.left[rows],
        votes.right[rows],
        choice,
        weight,
        annotators=votes.annotators,
        items=votes.items,
    )
    for transform in TRANSFORMS:
        expected = hodge_decompose(votes, transform).flow
        assert_allclose(hodge_decompose(split, transform).flow, expected, atol=1e-12)


@given(small_votes())
def test_hodge_rank_is_least_squares_on_the_votes(votes):
    design = np.zeros((votes.n_rows, votes.n_items))
    design[np.arange(votes.n_rows), votes.left] = 1
    design[np.arange(votes.n_rows), votes.right] = -1
    root = np.sqrt(votes.weight)
    expected, *_ = np.linalg.lstsq(root[:, None] * design, root * votes.choice, rcond=None)
    assert_allclose(hodge_rank(votes), expected, atol=1e-10)  # least norm: sums are zero


def test_hodge_rank_takes_strengths():
    votes = votes_of([(0, 1, 3.0), (1, 2, 2.0), (0, 2, 5.0)])
    assert_allclose(hodge_rank(votes), [8 / 3, -1 / 3, -7 / 3], atol=1e-12)


def test_four_in_a_circle_are_harmonic():
    parts = hodge_decompose(votes_of([(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)]))
    assert_allclose(parts.energy.harmonic, 4.0)
    assert parts.energy.local == 0
    assert_allclose(parts.scores, 0, atol=1e-14)
    assert parts.cyclicity == pytest.approx(1)
    assert parts.inconsistent_triangles() == []


def test_three_in_a_circle_are_local():
    parts = hodge_decompose(votes_of([(0, 1, 1), (1, 2, 1), (2, 0, 1)]))
    assert_allclose(parts.energy.local, 3.0)
    assert_allclose(parts.energy.harmonic, 0.0, atol=1e-25)
    (triangle,) = parts.inconsistent_triangles()
    assert triangle.items == ("item 000", "item 001", "item 002")
    assert triangle.curl == 3
    assert triangle.energy == pytest.approx(3)


def test_three_in_the_other_circle():
    parts = hodge_decompose(votes_of([(1, 0, 1), (2, 1, 1), (0, 2, 1)]))
    (triangle,) = parts.inconsistent_triangles()
    assert triangle.items == ("item 000", "item 002", "item 001")


def test_a_consistent_crowd_has_no_cycles():
    scores = np.array([0.4, 0.1, -0.2, -0.3])
    rows = [(i, j, scores[i] - scores[j]) for i, j in itertools.combinations(range(4), 2)]
    parts = hodge_decompose(votes_of(rows))
    assert_allclose(parts.scores, scores, atol=1e-12)
    assert parts.cyclicity < 1e-24


@pytest.mark.parametrize(
    ("transform", "curve"),
    [
        ("uniform", lambda x: (1 + x) / 2),
        ("bradley-terry", expit),
        ("thurstone-mosteller", norm.cdf),
        ("angular", lambda x: (1 + np.sin(x)) / 2),
    ],
)
def test_each_transform_undoes_its_model(transform, curve):
    scores = np.array([0.3, 0.2, -0.1, -0.4])
    pairs = list(itertools.combinations(range(4), 2))
    n = 1e7  # so many that the half vote for either side is lost
    win = np.array([curve(scores[i] - scores[j]) for i, j in pairs])
    rows = [(i, j, 1) for i, j in pairs] + [(i, j, -1) for i, j in pairs]
    weight = n * np.concatenate([win, 1 - win])
    parts = hodge_decompose(votes_of(rows, weight=weight), transform)
    assert_allclose(parts.scores, scores, atol=1e-6)
    assert parts.cyclicity < 1e-12


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        ("uniform", 1.0),
        ("bradley-terry", np.log(3.5 / 0.5)),
        ("thurstone-mosteller", norm.ppf(3.5 / 4)),
        ("angular", np.pi / 2),
    ],
)
def test_a_pair_won_every_time_is_finite(transform, expected):
    parts = hodge_decompose(votes_of([(0, 1, 1)] * 3), transform)
    assert_allclose(parts.flow, [expected], rtol=1e-12)


def test_islands_are_ranked_apart():
    parts = hodge_decompose(votes_of([(0, 1, 1), (2, 3, -1)], n_items=5))
    assert parts.component.tolist() == [0, 0, 1, 1, 2]
    assert parts.n_components == 3
    assert_allclose(parts.scores, [0.5, -0.5, -0.5, 0.5, 0.0], atol=1e-14)
    assert parts.pairs.tolist() == [["item 000", "item 001"], ["item 002", "item 003"]]


def test_pairs_without_weight_are_not_compared():
    votes = votes_of([(0, 1, 1), (1, 2, 1), (0, 2, -1)], weight=[1, 1, 0])
    parts = hodge_decompose(votes)
    assert len(parts.flow) == 2
    assert parts.cyclicity < 1e-24


def test_ties_only():
    parts = hodge_decompose(votes_of([(0, 1, 0), (1, 2, 0)]))
    assert parts.cyclicity == 0
    assert not parts.scores.any()


def test_worst_triangles_come_first(monkeypatch):
    parts = hodge_decompose(random_votes(12, 400, seed=4, share=0.7))
    place = {(i, j): e for e, (i, j) in enumerate(zip(parts.first, parts.second, strict=True))}
    energies = []
    for i, j, k in itertools.combinations(range(12), 3):
        if {(i, j), (j, k), (i, k)} <= place.keys():
            edges = [place[i, j], place[j, k], place[i, k]]
            curl = parts.flow[edges] @ [1, 1, -1]
            energies.append(curl**2 / (1 / parts.weight[edges]).sum())
    monkeypatch.setattr(triangles, "BATCH", 7)
    worst = parts.inconsistent_triangles(5)
    assert_allclose([t.energy for t in worst], sorted(energies)[:-6:-1])
    flow = {tuple(pair): value for pair, value in zip(parts.pairs, parts.flow, strict=True)}
    for triangle in worst:
        a, b, c = triangle.items
        around = sum(flow.get((x, y), -flow.get((y, x), 0)) for x, y in ((a, b), (b, c), (c, a)))
        assert_allclose(around, triangle.curl)
        assert triangle.curl > 0


def test_a_sample_of_triangles_gives_the_same_parts(monkeypatch):
    """Samples that span everything and samples that do not, finished by all triangles."""
    votes = random_votes(16, 500, seed=9, share=0.6)
    whole = hodge_decompose(votes)
    for held in (200, 40, 5):
        monkeypatch.setattr(local, "_MAX_HELD", held)
        monkeypatch.setattr(triangles, "BATCH", 30)
        parts = hodge_decompose(votes)
        assert_allclose(parts.local, whole.local, atol=1e-9)
        check_orthogonal_and_complete(parts)


def test_no_silence_when_it_does_not_converge(monkeypatch):
    monkeypatch.setattr(local, "_MAX_ITERATIONS", 2)
    with pytest.warns(VoteWarning, match="not told apart fully after 2 iterations"):
        hodge_decompose(random_votes(16, 500, seed=9, share=0.5))


def test_a_long_chain_is_solved_exactly():
    """Conjugate gradients do not arrive here; the factorisation does."""
    n = 3_000
    votes = votes_of([(k, k + 1, 1) for k in range(n - 1)])
    assert_allclose(hodge_rank(votes), (n - 1) / 2 - np.arange(n), rtol=1e-9)


def test_ten_thousand_items():
    rng = np.random.default_rng(3)
    left = rng.integers(0, 10_000, 200_000, dtype=np.int32)
    right = rng.integers(0, 9_999, 200_000, dtype=np.int32)
    right += right >= left
    votes = Votes.from_codes(
        np.zeros(200_000, np.int32),
        left,
        right,
        rng.choice([1.0, -1.0], 200_000),
        annotators=np.array(["ann"]),
        items=np.arange(10_000),
    )
    check_orthogonal_and_complete(hodge_decompose(votes, "bradley-terry"))


def test_strengths_beyond_one_need_the_uniform_transform():
    votes = votes_of([(0, 1, 2.5), (1, 2, 1)])
    with pytest.raises(VoteError) as error:
        hodge_decompose(votes, "bradley-terry")
    assert "1 vote with a strength beyond 1 (the first is 2.5)" in str(error.value)
    assert 'use transform="uniform"' in str(error.value)
    assert_allclose(hodge_decompose(votes).flow, [2.5, 1])


def test_bad_arguments_are_named():
    votes = votes_of([(0, 1, 1)])
    with pytest.raises(VoteError, match="transform is 'probit'"):
        hodge_decompose(votes, "probit")
    with pytest.raises(VoteError, match="n is 0"):
        hodge_decompose(votes).inconsistent_triangles(0)
