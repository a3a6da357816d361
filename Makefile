# Every target sets up what it needs by itself; `make help` lists them.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
ARCHIVE := $(VENV)/share/headway/spark.jsa

.DEFAULT_GOAL := help
.PHONY: help setup parts java kafka demo test long check bench lock clean

help: ## List the targets.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

setup: ## Make the environment in .venv from the lock file; see that Java and Kafka's jars are there.
	@$(MAKE) --no-print-directory -j 3 parts

parts: $(READY) java kafka $(ARCHIVE) # What is fetched does not wait for what is made.

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --no-build-isolation -e .
	@touch $(READY)

java: # Find Java 17 or newer, or install it.
	@sh tools/ensure-java.sh

kafka: | java # Fetch Kafka's jars, if Maven is there or can be installed.
	@sh tools/ensure-kafka.sh $(VENV)

$(ARCHIVE): $(READY) | java # Load Spark's classes once, so that Spark starts in half the time.
	@$(BIN)/python -m headway.engine.archive

demo: setup ## Run the main job for about a minute on an embedded default, with a live view and a report.
	@$(BIN)/headway demo || [ $$? -eq 3 ] # which says that the goal was missed, as a busy host may

PYTEST := $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

test: setup ## Run the tests; on 2 cores in less than 12 minutes.
	$(PYTEST) -m "not long"

long: setup ## Run the tests that take long: kills, brokers that die, trials of both modes.
	$(PYTEST) -m long

check: setup ## Lint, format and types.
	$(BIN)/ruff check src tests examples
	$(BIN)/ruff format --check src tests examples
	$(BIN)/mypy

bench: setup ## List the benchmarks; run one with `.venv/bin/headway bench NAME`.
	$(BIN)/headway bench --list

lock: ## Pin every dependency with its hashes.
	$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
	    --no-emit-find-links --no-header --extra dev --extra build --extra bench pyproject.toml -o requirements.lock

clean: ## Remove the environment and everything that runs left behind.
	rm -rf $(VENV) $(VENV)-lock .headway headway-report build
