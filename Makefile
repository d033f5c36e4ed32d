# Targets set up what they need: Python packages go into .venv. Java 17 or later must be on the machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OLD := .venv-spark35

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-cluster test-browser test-faults test-spark35 load lint format docs bench setup clean check-java check-python

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || \
	  { echo "error: Python 3.10 or later is needed; install it (for example: apt-get install python3 python3-venv) or run make PYTHON=/path/to/python3.11"; exit 1; }

check-java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	  version=$$("$$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1); \
	  if [ -z "$$version" ] || [ "$$version" -lt 17 ]; then \
	    echo "error: Java 17 or later is needed, found $${version:-none}; install it (for example: apt-get install openjdk-17-jre-headless) or set JAVA_HOME"; exit 1; fi

$(STAMP): setup.py | check-python
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "error: python3 cannot make a virtual environment; install it (for example: apt-get install python3-venv)"; exit 1; }
	@echo "installing nes_spark and what it needs into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,connect]'
	@touch $@

setup: check-java $(STAMP) $(VENV)/.prepared ## Create .venv, install the project, prepare Java for Spark

# Without it every start of Spark reads its classes from the jars again.
$(VENV)/.prepared: $(STAMP) | check-java
	@$(BIN)/nes-spark prepare
	@$(BIN)/python -m compileall -q -j 0 nes_spark
	@touch $@

demo: setup ## Run the main job on the bundled demo corpus (report in out/demo)
	@$(BIN)/nes-spark demo

# Three processes side by side: the kernels' tests, and two with a Spark session each. Two sessions and
# the kernels keep two cores busy; a third session is one more start of Java and one more that waits.
# The kernels give way: sessions wait for Java and for workers in turn. What ran in the background is
# shown last. Bytecode is made once, also where the environment says otherwise: workers and the commands
# that tests start would compile the package again and again.
FAST := not slow and not cluster and not browser
METHOD := $(addprefix tests/,swapping releases entities risk utility audit faults)
test: export PYTHONDONTWRITEBYTECODE =
test: setup ## Run the fast tests
	@$(BIN)/python -m compileall -q -j 0 nes_spark
	@logs=$$(mktemp -d) || exit 1; running=; \
	trap 'kill $$running 2>/dev/null; rm -rf "$$logs"; exit 130' INT TERM; \
	nice -n 1 $(BIN)/python -m pytest -m "not spark and $(FAST)" > "$$logs/kernels" 2>&1 & kernels=$$!; \
	$(BIN)/python -m pytest -m "spark and $(FAST)" $(METHOD) > "$$logs/method" 2>&1 & method=$$!; \
	running="$$kernels $$method"; \
	echo "tests of whole runs, and of all that is not named below:"; \
	$(BIN)/python -m pytest -m "spark and $(FAST)" $(addprefix --ignore=,$(METHOD)); runs=$$?; \
	wait $$method; method=$$?; \
	echo "tests of $(METHOD):"; cat "$$logs/method"; \
	wait $$kernels; kernels=$$?; \
	echo "tests of kernels:"; cat "$$logs/kernels"; rm -rf "$$logs"; \
	exit $$((runs || method || kernels))

test-slow: setup ## Run all tests, also those that take minutes or start a cluster
	$(BIN)/python -m pytest

test-cluster: setup ## Run the cluster tests: standalone master and workers, Spark Connect
	$(BIN)/python -m pytest -m cluster

test-browser: setup ## Look at the report in a Chromium of this machine, and click
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'
	$(BIN)/python -m pytest -rs -m browser

test-faults: setup ## Kill the job 27 times and fill its disk (half an hour)
	$(BIN)/python -m pytest -s tests/faults

$(OLD)/.installed: setup.py | check-python
	@test -x $(OLD)/bin/python || $(PYTHON) -m venv $(OLD)
	@$(OLD)/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || \
	  { echo "error: PySpark 3.5 is for Python 3.8 to 3.11; run make test-spark35 PYTHON=python3.11"; rm -rf $(OLD); exit 1; }
	@echo "installing nes_spark with PySpark 3.5 into $(OLD)"
	@$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' 'pyspark==3.5.*' 'pandas<3'
	@touch $@

test-spark35: check-java $(OLD)/.installed ## Run the Spark tests with the last PySpark 3.5
	$(OLD)/bin/python -m pytest -m "spark and not slow and not cluster"

load: setup ## Run a generated corpus of 2,000 calls within 4 GB; time and memory per stage
	$(BIN)/python -m tests.benchmarks.load --documents 2000

lint: setup ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup ## Build the documentation (build/site/index.html); a broken link is an error
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "the documentation is build/site/index.html"

bench: setup ## Run the benchmarks (ratios measured side by side)
	$(BIN)/python -m pip install --quiet '.[bench]'
	@for bench in tests/benchmarks/bench_*.py; do \
	  echo "== $$bench"; $(BIN)/python -m tests.benchmarks.$$(basename $$bench .py) || exit 1; done

clean: ## Remove caches and builds (not .venv, and not out: it holds ledgers)
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
