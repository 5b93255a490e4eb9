# Each target sets up its own environment in a fresh clone: Python 3.11+, make and git suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help lock demo test lint types kernels unit covered stress mutants docs coverage audit golden figures tables bench bench-all package clean

help:  ## What there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

# The newest allowed versions; with LOCK=1 those of the lock, each checked by its hash.
$(READY): pyproject.toml requirements-lock.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(if $(LOCK),$(BIN)/python -m pip install --quiet --require-hashes -r requirements-lock.txt)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $(READY)

lock: $(READY)  ## Choose new versions for requirements-lock.txt (needs the network)
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra test --universal --generate-hashes --upgrade --quiet \
		--custom-compile-command "make lock" --output-file requirements-lock.txt

demo: $(READY)  ## A small crowd with planted deviants, and whether they are found
	$(BIN)/prefpath demo

# The kernels are compiled while mypy holds one processor: the two processes of the tests would
# each compile all of them, and wait for it.
test:  ## Everything CI runs
	$(MAKE) --jobs=2 lint types kernels
	$(MAKE) unit docs

lint: $(READY)  ## Style, dead code, sizes, and that every layer imports only from those on its left
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vulture
	$(BIN)/lint-imports
	$(BIN)/python tools/measure.py

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

kernels: $(READY)  ## Compile what fits, verdicts and reports need, once
	$(BIN)/prefpath compile > /dev/null

# The compiler hides the bodies of kernels: tests that compare their numbers on small cases run once
# more without it. Some are too slow for that, or there is nothing of a kernel in them.
KERNEL_TESTS := tests/as_written tests/model/test_losses.py tests/model/test_penalties.py \
	tests/solver/test_rkc.py tests/solver/test_parts_of_flow.py tests/solver/test_moments.py \
	tests/solver/test_exponential.py \
	tests/weak/test_blocks.py tests/diagnose/test_streams.py tests/diagnose/test_tails.py \
	tests/selection/test_invariance.py tests/pairs/test_counts.py tests/hodge/test_hodge.py \
	tests/plain/test_plain_csv.py tests/plain/test_clustered.py
SLOW_UNCOMPILED := ten_thousand or half_the_evaluations or by_modes or fourteen_votes or path_is_that or settled or distributions
# Words that wrap around are meant to, and products with infinity: uncompiled, NumPy warns of them.
UNCOMPILED := NUMBA_DISABLE_JIT=1 $(BIN)/pytest -W "ignore:overflow encountered:RuntimeWarning" \
	-W "ignore:invalid value encountered:RuntimeWarning" -k "not ($(SLOW_UNCOMPILED))"
PARALLEL := -n 2 --dist loadgroup --cov --cov-report= --durations=12

# BLAS's own threads would only wait for each other.
unit: export OPENBLAS_NUM_THREADS = 1
unit: $(READY)  ## All tests, on two processes, and whether they reach enough lines and branches
	COVERAGE_FILE=.coverage.compiled $(BIN)/pytest $(PARALLEL)
	COVERAGE_FILE=.coverage.kernels $(UNCOMPILED) $(PARALLEL) $(KERNEL_TESTS)
	$(MAKE) covered

covered: $(READY)  ## Lines and branches the last `make unit` reached, and whether that is enough
	$(BIN)/coverage combine --keep --quiet .coverage.compiled .coverage.kernels
	$(BIN)/coverage json --quiet
	$(BIN)/python tools/covered.py coverage.json

docs: $(READY)  ## The documentation site, into site/; warnings are errors, nothing is fetched
	$(BIN)/python tools/sample_report.py docs/sample-report.html
	$(BIN)/python tools/messages.py docs/reference/messages.md
	$(BIN)/python tools/cli_reference.py docs/reference/cli.md
	$(BIN)/python tools/docs_pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src benchmarks examples tools

coverage: unit  ## The same, with every line that is missed
	$(BIN)/coverage report --skip-covered --show-missing

mutants: $(READY)  ## Small errors put into the mathematics: the share the tests notice (half an hour, idle)
	$(BIN)/python tools/mutants.py

stress: $(READY)  ## Bad files, kills, full disks, little memory, hard numbers: tried, survived, lost
	$(BIN)/python tools/stress.py

audit: $(READY)  ## Known weaknesses of the libraries installed (needs the network)
	$(BIN)/python tools/audit.py

golden: $(READY)  ## All golden paths of the published code, whole (minutes)
	$(BIN)/python benchmarks/golden.py

figures: $(READY)  ## All figures of the paper (needs PREFPATH_DATA or ../shared/data)
	$(BIN)/prefpath reproduce figures

tables: $(READY)  ## All tables of the paper, 20 repeats each
	$(BIN)/prefpath reproduce tables

bench: $(READY)  ## Beside the rivals, a selection (ten minutes on an idle machine), and its page
	$(BIN)/python benchmarks/rivals/environments.py
	$(BIN)/python benchmarks/rivals/bench.py --out benchmarks/rivals/results/selection.json
	$(BIN)/python benchmarks/rivals/page.py

bench-all: $(READY)  ## Beside the rivals, every size (hours)
	$(BIN)/python benchmarks/rivals/environments.py
	$(BIN)/python benchmarks/rivals/bench.py --all --out benchmarks/rivals/results/all.json
	$(BIN)/python benchmarks/rivals/page.py benchmarks/rivals/results/all.json

package: $(READY)  ## Wheel and sdist, tried in an empty environment and with the oldest versions
	$(BIN)/python tools/package.py

clean:  ## Everything that was made, the environment, too
	rm -rf $(VENV) build dist site docs/sample-report.html docs/reference/messages.md docs/reference/cli.md .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage* coverage.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
