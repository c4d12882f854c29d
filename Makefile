# Thin calls; everything is also a command of its own. Needs `.venv`, see CONTRIBUTING.md.
BIN ?= .venv/bin

.DEFAULT_GOAL := help
.PHONY: help check test docs bench demo format

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check:  ## Lint, format check, types, import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test:  ## Tests and doctests
	$(BIN)/python -m pytest

docs:  ## Build the web pages in docs/_build/html; warnings are errors
	$(BIN)/sphinx-build -W -n --keep-going -b html docs docs/_build/html

bench:  ## Speed and memory as ratios to peers
	$(BIN)/python benchmarks/ratios.py

demo:  ## Rank a bundled data set; results in tamis-demo
	$(BIN)/tamis demo --force

format:  ## Mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
