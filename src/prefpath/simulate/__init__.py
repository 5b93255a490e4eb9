"""Crowds with a known truth: the paper's simulation, and general ones with planted deviants."""

from prefpath.simulate.crowd import simulate_crowd
from prefpath.simulate.paper import simulate_paper
from prefpath.simulate.simulation import Simulation

__all__ = ["Simulation", "simulate_crowd", "simulate_paper"]
