# Thin calls; everything is also a command of its own. Needs `.venv`, see CONTRIBUTING.md.
BIN ?= .venv/bin

.DEFAULT_GOAL := help
.PHONY: help check test slow coverage fuzz docs bench demo format release-check

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check:  ## Lint, format check, types, import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test:  ## Tests and doctests, without the slow ones
	$(BIN)/python -m pytest

slow:  ## The slow tests
	$(BIN)/python -m pytest -m slow

coverage:  ## All tests with branch coverage; fails below the floor in pyproject.toml
	$(BIN)/python -m pytest -m "" --cov

fuzz:  ## 100,000 random tables, parameters and damaged files, about half an hour; counts by outcome
	TAMIS_FUZZ_TRIES=2300 $(BIN)/python -m pytest -n 2 -m slow tests/fuzz

docs:  ## Build the web pages in docs/_build/html; warnings are errors
	$(BIN)/sphinx-build -W -n --keep-going -b html docs docs/_build/html

bench:  ## Speed and memory as ratios to peers
	$(BIN)/python benchmarks/ratios.py

demo:  ## Answer for a generated table whose truth is known; results in tamis-demo
	$(BIN)/tamis demo --force

release-check:  ## Build sdist and wheel, install the wheel in an empty environment, run the demo
	BIN=$(BIN) .ci/release

format:  ## Fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
