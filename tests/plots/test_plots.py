"""Every figure shows the numbers it was given, and looks as it did."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import VoteError, Votes, hodge_decompose, plots
from prefpath.leaderboard import ranking_columns, side_clicks
from prefpath.plots.tally import deviation_size, pair_tables, top_feature_shares
from prefpath.votes.graph import connected_components


def _lines(ax, colour):
    from matplotlib.colors import same_color

    return [line for line in ax.lines if same_color(line.get_color(), colour)]


def test_deviation_paths_draw_every_annotator_and_mark_three_groups(path, looks_like):
    ax = plots.deviation_paths(path, t=float(path.times[7]), n_marked=2)
    assert len(ax.collections[0].get_segments()) == len(path.annotators)
    first = np.argmin(path.entered)
    expected = [deviation_size(path, float(t))[first] for t in path.times]
    np.testing.assert_allclose(_lines(ax, plots.style.ORANGE)[0].get_ydata(), expected)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["first to pop up", "middle to pop up", "last to pop up", "chosen t"]
    looks_like(ax, "deviation_paths")


def test_position_bias_paths_keep_the_sign(path, looks_like):
    ax = plots.position_bias_paths(path, n_marked=1)
    first = int(np.argmin(path.entered_bias))
    drawn = _lines(ax, plots.style.ORANGE)[0].get_ydata()
    np.testing.assert_allclose(drawn, [path.position_bias(float(t))[first] for t in path.times])
    looks_like(ax, "position_bias_paths")


def test_a_crowd_of_two_is_drawn_without_groups(votes):
    from prefpath import fit_path

    two = votes.take(votes.annotator < 2)
    pair = Votes.from_codes(
        two.annotator, two.left, two.right, two.choice,
        annotators=votes.annotators[:2], items=votes.items,
    )  # fmt: skip
    ax = plots.deviation_paths(fit_path(pair, n_times=4, t_ratio=4.0))
    assert not ax.lines
    assert ax.get_legend() is None


def test_error_curve_shows_mean_band_and_chosen_time(cv, looks_like):
    ax = plots.error_curve(cv)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), cv.mean)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx((cv.mean + cv.standard_error).max())
    assert ax.lines[1].get_xdata()[0] == cv.t_cv
    looks_like(ax, "error_curve")


def test_error_curve_marks_the_time_it_is_told(cv):
    assert plots.error_curve(cv, t=33.0).lines[1].get_xdata()[0] == 33.0


def test_losses_cross_where_they_should(looks_like):
    ax = plots.losses()
    at_zero = {line.get_label(): line.get_ydata()[120] for line in ax.lines}
    assert at_zero == pytest.approx(
        {"linear": 0.5, "bradley-terry": np.log(2), "thurstone-mosteller": np.log(2)}
    )
    looks_like(ax, "losses")


def test_speed_up_is_a_ratio_of_medians(looks_like):
    ax = plots.speed_up([1, 2, 4], [[4.0, 4.0, 4.4], [2.0, 2.2, 2.0], [1.0, 1.2, 1.25]])
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [1.0, 2.0, 4.0 / 1.2])
    looks_like(ax, "speed_up")


def _ranking(votes, path):
    scores = path.scores(float(path.times[7]))
    return ranking_columns(votes, scores, connected_components(votes))


def test_leaderboard_draws_scores_and_intervals(votes, path, looks_like):
    ranking = _ranking(votes, path)
    ranking |= {"score_low": ranking["score"] - 0.3, "score_high": ranking["score"] + 0.2}
    ranking["score_high"][0] = np.inf  # it never lost
    ax = plots.leaderboard(ranking)
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), ranking["score"])
    segments = np.array(ax.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 0], ranking["score_low"][1:])
    np.testing.assert_allclose(segments[:, 1, 0], ranking["score_high"][1:])
    arrow = next(line for line in ax.lines if line.get_marker() == ">")
    np.testing.assert_array_equal(arrow.get_ydata(), [0])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(ranking["item"])
    looks_like(ax, "leaderboard")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_leaderboard_takes_a_frame_of_any_library(votes, path, library):
    from prefpath.frames import build_frame

    columns = _ranking(votes, path)
    columns["score_low"] = [None, *(columns["score"][1:] - 1.0)]
    columns["score_high"] = [None, *(columns["score"][1:] + 1.0)]
    ax = plots.leaderboard(build_frame(columns, library), top=4)
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), columns["score"][:4])
    assert len(ax.collections[0].get_segments()) == 3


def test_personal_rankings_are_ranks_of_personal_scores(path, looks_like):
    t = float(path.times[-1])
    who = path.annotators[int(np.argmin(path.entered))]
    ax = plots.personal_rankings(path, t, [who])
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_array_equal(shown[:, 0], np.arange(1, 7))
    order = np.argsort(-path.scores(t))
    own = path.personal_scores(who, t)[order]
    np.testing.assert_array_equal(np.argsort(shown[:, 1]), np.argsort(-own))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["common", str(who)]
    looks_like(ax, "personal_rankings")


def test_win_fractions_add_up_to_one(votes, looks_like):
    ax = plots.win_fractions(votes)
    share = np.asarray(ax.images[0].get_array().filled(np.nan))
    off = ~np.eye(votes.n_items, dtype=bool)
    np.testing.assert_allclose((share + share.T)[off], 1.0)
    looks_like(ax, "win_fractions")


def test_battle_counts_add_up_to_all_votes(votes, looks_like):
    items = votes.items[::-1]
    ax = plots.battle_counts(votes, items=list(items))
    counts = np.asarray(ax.images[0].get_array().filled(0.0))
    assert counts.sum() == 2 * votes.total_weight
    assert [label.get_text() for label in ax.get_yticklabels()] == list(items)
    looks_like(ax, "battle_counts")


def test_heat_maps_refuse_unknown_and_repeated_items(votes):
    with pytest.raises(VoteError, match="durian"):
        plots.win_fractions(votes, items=["durian"])
    with pytest.raises(VoteError, match="twice"):
        plots.battle_counts(votes, items=[votes.items[0], votes.items[0]])


def test_hodge_energies_fill_the_bar(votes, looks_like):
    parts = hodge_decompose(votes)
    ax = plots.hodge_energies({"all votes": parts})
    widths = [bar.get_width() for bar in ax.patches]
    assert sum(widths) == pytest.approx(1.0)
    assert widths[0] == pytest.approx(1.0 - parts.cyclicity)
    looks_like(ax, "hodge_energies")


def test_hodge_energies_of_silence_are_empty_bars():
    votes = Votes.from_arrays(["ann"], ["x"], ["y"], ["tie"])
    assert all(bar.get_width() == 0 for bar in plots.hodge_energies(hodge_decompose(votes)).patches)


def clicks_and_entries(votes, path):
    left, right, ties = side_clicks(votes)
    entered = path.entry_times("position_bias")
    columns = {"annotator": votes.annotators, "left": left, "right": right, "ties": ties}
    return columns | {"position_bias_entered": entered}


def test_position_clicks_come_in_the_order_of_popping_up(votes, path, looks_like):
    people = clicks_and_entries(votes, path)
    ax = plots.position_clicks(people, top=4)
    order = np.argsort(people["position_bias_entered"], kind="stable")[:4]
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == list(people["annotator"][order])
    left = [bar.get_width() for bar in ax.containers[0]]
    np.testing.assert_array_equal(left, people["left"][order])
    looks_like(ax, "position_clicks")


def test_position_clicks_leave_out_those_who_never_popped_up(votes, path):
    people = clicks_and_entries(votes, path)
    people["position_bias_entered"] = np.full(votes.n_annotators, np.inf)
    assert len(plots.position_clicks(people).get_yticks()) == 0


def test_feature_shares_start_with_the_largest(looks_like):
    shares = {"common": [0.2, 0.5, 0.3], "farmers": [0.6, 0.1, 0.3]}
    ax = plots.feature_shares(shares, ["Drama", "Comedy", "War"])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["Comedy", "War", "Drama"]
    heights = [[bar.get_height() for bar in group] for group in ax.containers]
    assert heights == [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]
    looks_like(ax, "feature_shares")


def test_figures_draw_on_the_axes_they_are_given(votes, path, cv):
    import matplotlib.pyplot as plt

    for draw in (
        lambda ax: plots.deviation_paths(path, ax),
        lambda ax: plots.error_curve(cv, ax),
        lambda ax: plots.losses(ax=ax),
        lambda ax: plots.leaderboard(_ranking(votes, path), ax),
        lambda ax: plots.win_fractions(votes, ax),
    ):
        _, ax = plt.subplots()
        n_figures = len(plt.get_fignums())
        assert draw(ax) is ax
        assert len(plt.get_fignums()) == n_figures


def test_labels_are_text_and_not_mathematics():
    votes = Votes.from_arrays(["ann"], ["$\\frac{1}{$"], ["long " * 20], ["left"])
    ax = plots.win_fractions(votes)
    ax.figure.canvas.draw()  # broken mathematics would raise here
    assert max(len(tick.get_text()) for tick in ax.get_xticklabels()) <= 30


def test_the_comparison_of_images_can_fail(looks_like, monkeypatch):
    monkeypatch.delenv("PREFPATH_BASELINE", raising=False)
    ax = plots.losses(["linear"])
    with pytest.raises(AssertionError, match="RMS"):
        looks_like(ax, "losses")


def test_pair_tables_count_ties_as_half_wins():
    votes = Votes.from_arrays(["a"] * 4, ["x", "y", "x", "x"], ["y", "x", "z", "y"], [1, 1, 0, 0])
    share, battles = pair_tables(votes, [0, 1, 2])
    np.testing.assert_allclose(share[0], [np.nan, 0.5, 0.5])
    np.testing.assert_array_equal(battles, [[0, 3, 1], [3, 0, 0], [1, 0, 0]])


def test_top_feature_shares_look_at_the_top_only():
    features = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(top_feature_shares([1.0, 2.0, 3.0], features, 1), [0.0, 1.0])
