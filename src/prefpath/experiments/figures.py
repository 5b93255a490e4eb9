"""All figures of the paper, and a page that says what each shows and whether it agrees.

    prefpath reproduce figure7 --quick             # one of the paper's, by its number
    python -m prefpath.experiments.figures                  # all of them, into out/figures/
    python -m prefpath.experiments.figures iqa-paths losses # some of them
    python -m prefpath.experiments.figures --list

Data come from PREFPATH_DATA, or from ../shared/data. We have not seen the paper's pictures. What
its figures are is known from the scripts the authors published (github.com/yao-lab/TPAMI2018, one
folder a figure); what can be compared is the orders and numbers those scripts, the paper's
tables and a draft of its text have.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from prefpath.experiments.crowd_figures import CROWD_FIGURES
from prefpath.experiments.data import look_beside_the_clone
from prefpath.experiments.figure_kit import Figure, Finding
from prefpath.experiments.movie_figures import MOVIE_FIGURES
from prefpath.experiments.other_figures import OTHER_FIGURES
from prefpath.experiments.speed_up_figures import SPEED_UP_FIGURES
from prefpath.plots.style import save_figure
from prefpath.tables import write_table
from prefpath.writing import write_text

_PAPER = [one for one in (*MOVIE_FIGURES, *CROWD_FIGURES, *SPEED_UP_FIGURES) if one.number]
_NOT_IN_THE_PAPER = [one for one in (*MOVIE_FIGURES, *OTHER_FIGURES) if not one.number]


def number_of(figure: Figure) -> int:
    """The number of the paper's figure without its part."""
    return int(re.sub(r"\D", "", figure.number))


FIGURES: tuple[Figure, ...] = (
    *sorted(_PAPER, key=lambda one: (number_of(one), one.number)),
    *_NOT_IN_THE_PAPER,
)


def figures_of(name: str) -> list[Figure]:
    """All figures ("figures"), or the parts of the paper's figure of a number ("figure5")."""
    if name == "figures":
        return list(FIGURES)
    return [one for one in FIGURES if one.number and f"figure{number_of(one)}" == name]


def draw_figure(figure: Figure, out: Path, *, quick: bool = False) -> Finding:
    """Draw a figure into a folder, with its numbers beside it as CSV."""
    import matplotlib.pyplot as plt

    found = figure.draw(quick)
    save_figure(plt.gcf(), out / f"{figure.name}.png")
    plt.close("all")
    write_table(found.columns, out / f"{figure.name}.csv")
    return found


def write_page(found: Mapping[str, Finding], out: Path, *, quick: bool = False) -> None:
    """A page beside the figures: each with what the paper's is and what ours shows."""
    lines = ["# Figures of the paper, drawn anew", ""]
    if quick:
        lines += ["Quick: shorter paths and fewer repeats than the paper's.", ""]
    for figure in FIGURES:
        if figure.name in found:
            lines += [f"## {figure.title}", "", f"![{figure.shows}]({figure.name}.png)", ""]
            lines += [f"{_sentence(figure.known)} {_sentence(found[figure.name].words)}", ""]
    write_text(out / "README.md", "\n".join(lines))


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def main() -> None:
    """Draw the figures named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *(figure.name for figure in FIGURES)])
    parser.add_argument("--out", type=Path, default=Path("out") / "figures")
    parser.add_argument("--quick", action="store_true", help="shorter paths, fewer repeats")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{figure.name:22}{figure.title}" for figure in FIGURES))
        return
    look_beside_the_clone()
    import matplotlib

    matplotlib.use("Agg")
    options.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for figure in FIGURES:
        if not options.names or figure.name in options.names:
            found[figure.name] = draw_figure(figure, options.out, quick=options.quick)
            print(f"{figure.title}: {found[figure.name].words}", flush=True)
    write_page(found, options.out, quick=options.quick)
    print(f"written to {options.out}/")


if __name__ == "__main__":
    main()
