# Every target sets up what it needs by itself; a stamp file in each virtual environment makes the second time quick.
PYTHON ?= python3
WORKERS ?= auto

BIN := .venv/bin
PEERS_BIN := .venv-peers/bin
PIP := -m pip install --quiet --disable-pip-version-check
# Modules without I/O: all that ARCHITECTURE calls pure and that exists; their branches must all be tested.
PURE := */mesero/errors.py,*/mesero/jsonrpc.py,*/mesero/framing.py,*/mesero/calls.py,*/mesero/misfits.py,*/mesero/uritemplates.py,*/mesero/extensions.py,*/mesero/types/*,*/mesero/revisions/*,*/mesero/modern/*

export MESERO_PEERS_PYTHON ?= $(CURDIR)/$(PEERS_BIN)/python

.PHONY: help demo test check fix cov bench peers

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.run ## connect to the demo server over stdio and HTTP, use it, show what passed on the wire
	@$(BIN)/mesero demo

test: check .venv-peers/.ready ## everything: lint, types, all tests, the official conformance suite
	$(BIN)/python -m pytest -n $(WORKERS)
	$(BIN)/python tests/conformance/run.py

check: .venv/.dev ## lint, format and types, without running anything
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

fix: .venv/.dev ## mend what the linter can, and format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

cov: .venv/.dev .venv-peers/.ready ## all tests with branch coverage: 100 % of the pure core, 90 % of the rest
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report=
	$(BIN)/coverage report --include='$(PURE)' --fail-under=100
	$(BIN)/coverage report --omit='$(PURE)' --fail-under=90

peers: .venv/.run ## our client and server against servers and clients of others, of every era
	$(BIN)/python tests/peers_matrix/run.py

bench: .venv/.dev ## our speed against the official SDK and FastMCP, as ratios in one run
	$(BIN)/python bench/run.py
	$(BIN)/python bench/traces.py --write docs/benchmarks-of-traces.md

# --- environments ---

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "mesero needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up .venv ..."
	@$(PYTHON) -m venv .venv

# What a user gets, at the versions that the tests run with.
.venv/.run: pyproject.toml requirements-dev.txt | .venv/bin/python
	@$(BIN)/python $(PIP) --constraint requirements-dev.txt --editable '.[server]'
	@touch $@

.venv/.dev: requirements-dev.txt .venv/.run
	@echo "installing what the tests need ..."
	@$(BIN)/python $(PIP) --requirement requirements-dev.txt
	@touch $@

# The official SDK lives apart, so that nothing of it can be imported by accident.
.venv-peers/.ready: requirements-peers.txt | .venv/bin/python
	@echo "setting up .venv-peers ..."
	@$(PYTHON) -m venv .venv-peers
	@$(PEERS_BIN)/python $(PIP) "$$(grep '^mcp==' requirements-peers.txt)"
	@touch $@
