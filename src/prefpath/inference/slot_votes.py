"""What the votes on each slot add up to, of everybody and of those without a part of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.inference.slots import add_weights
from prefpath.model.design import Codes, Floats
from prefpath.model.problem import Problem
from prefpath.votes.encode import BoolArray


class SlotVotes(NamedTuple):
    """What the votes on each slot weigh together, their pull (weight times choice), and whose.

    `active` is where the slot is one of somebody who has a part of their own.
    """

    weight: Floats
    pull: Floats
    active: BoolArray

    @property
    def everybody(self) -> tuple[Floats, Floats]:
        """Weight and mean choice."""
        return self.weight, _mean_choice(self.weight, self.pull)

    @property
    def followers(self) -> tuple[Floats, Floats]:
        """The same of those who have no part of their own."""
        weight, pull = (np.where(self.active, 0.0, each) for each in (self.weight, self.pull))
        return weight, _mean_choice(weight, pull)


def _mean_choice(weight: Floats, pull: Floats) -> Floats:
    return np.divide(pull, weight, out=np.zeros_like(pull), where=weight > 0)


def add_up_slots(
    problem: Problem, active: BoolArray, slot_of_cell: Codes, n_slots: int
) -> SlotVotes:
    """Add up the votes of everybody, once each."""
    total, pull = np.zeros((n_slots, 1)), np.zeros((n_slots, 1))
    once = np.ones((len(active), 1))
    add_weights(problem.design, slot_of_cell, problem.target, once, total, pull)
    own = np.zeros(n_slots, dtype=bool)
    own[slot_of_cell[np.repeat(active, np.diff(problem.design.cells))] // 2] = True
    return SlotVotes(total[:, 0], pull[:, 0], own)
