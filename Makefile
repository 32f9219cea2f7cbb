# Everything a checkout needs: Python 3.11 to 3.13, make, and the package registries.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test check bench schemas format clean

help: ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements.lock pyproject.toml scripts/ready.py
	@$(PYTHON) scripts/ready.py
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP) ## a Kafka, simulated tables, a worker, and the verdicts in this terminal
	@$(BIN)/misdeal demo

test: $(STAMP) ## all tests, on a real Kafka
	$(BIN)/pytest
	@$(BIN)/python scripts/unrun.py

check: $(STAMP) ## lint, types, layers, schemas, and the fast tests with their coverage of the core
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage run -m pytest -q -m "not kafka"
	$(BIN)/coverage report

bench: $(STAMP) ## events per CPU second, as ratios; written to bench/results
	$(BIN)/python bench/run.py

schemas: $(STAMP) ## generate schemas/ and the generated parts of docs/
	$(BIN)/python -m stream.schemas
	$(BIN)/python -m stream.coverage

format: $(STAMP) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what was built
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage

.PHONY: soak
soak: $(STAMP) ## the long tests: a million events through a real Kafka, and the large profile of properties
	MISDEAL_TEST_EVENTS=1000000 $(BIN)/pytest tests/broker/test_truth.py
	HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -m "not kafka"
