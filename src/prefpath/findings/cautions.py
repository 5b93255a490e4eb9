"""What a reader must know before the first number: a fit that says little, or stops oddly."""

from __future__ import annotations

import math
from collections.abc import Iterator

from prefpath.fitted import Fitted

_END_WITHOUT_CHOICE = (
    "Nothing was held out, so the fit stops at the end of the path, where everybody who differs is "
    "fitted nearly alone: personal parts are overstated there. --cv 5 (cv=5) chooses where to "
    "stop; --t (stop_at) names a time."
)
_WORSE_THAN_A_COIN = (
    "A coin would predict the held-out votes better (log-loss 0.6931, half of them wrong): these "
    "votes do not carry this ranking. prefpath check says what is wrong with them; more votes on "
    "each pair would help."
)
_END_CHOSEN = (
    "The held-out error was still falling at the end of the path, or everybody had entered: the "
    "best time may lie beyond it. --t-ratio 1000 (t_ratio=1000) follows the path further."
)


def cautions(fitted: Fitted) -> Iterator[str]:
    """Sentences with what to do; none for a fit that chose its time and predicts something."""
    at_end = fitted.t >= float(fitted.path.times[-1])
    if fitted.cross_validation is None:
        if at_end:
            yield _END_WITHOUT_CHOICE
        return
    if _worse_than_a_coin(fitted):
        yield _WORSE_THAN_A_COIN
    if at_end and not fitted.chosen_by_hand:
        yield _END_CHOSEN


def _worse_than_a_coin(fitted: Fitted) -> bool:
    found = fitted.held_out
    assert found is not None
    if fitted.criterion == "log-loss":
        return found.error > math.log(2.0)
    return found.wrong > 0.5
