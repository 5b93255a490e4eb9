# Each target sets up its own environment in a fresh clone: Python 3.11+, make and git suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types unit browser golden figures tables benchmarks clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $(READY)

demo: $(READY)  ## A small crowd with planted deviants, and whether they are found
	$(BIN)/prefpath demo

test: lint types unit  ## Everything CI runs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(BIN)/pytest -n 2 --dist loadgroup

golden: $(READY)  ## All golden paths of the published code, whole (minutes)
	$(BIN)/python benchmarks/golden.py

figures: $(READY)  ## All figures of the paper (needs PREFPATH_DATA or ../shared/data)
	$(BIN)/python -m experiments.figures

tables: $(READY)  ## All tables of the paper, 20 repeats each
	$(BIN)/prefpath reproduce tables

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
