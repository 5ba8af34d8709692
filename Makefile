# make demo   sets up and runs the main job on the built-in world
# make test   sets up and passes the tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check check-install check-databases check-cluster check-page check-real check-real-slow check-faults check-fuzz lock clean
.DEFAULT_GOAL := demo

$(VENV)/.base: pyproject.toml constraints.txt
	@echo "setting up $(VENV) (torch is large: this takes a minute or two, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --editable . && touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "adding the tools for tests and checks"
	@$(PIP) --editable '.[dev]' && touch $@

$(VENV)/.fuzz: $(VENV)/.dev
	@echo "adding the fuzzer"
	@$(PIP) --editable '.[fuzz]' && touch $@

demo: $(VENV)/.base
	@$(BIN)/foretime demo

# one process for each core; a file's tests stay together, as they share what is trained for them
test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# the wheel, built and installed into an empty environment
check-install: $(VENV)/.dev
	$(BIN)/python -m pytest -m install

# databases on a real PostgreSQL server (apt-get install postgresql), which the tests start and stop
check-databases: $(VENV)/.dev
	$(BIN)/python -m pytest -m database

# Ray clusters of this machine, on loopback, whose nodes are killed
check-cluster: $(VENV)/.dev
	@$(PIP) --editable '.[cluster]'
	$(BIN)/python -m pytest -m cluster

# the page in a real Chromium (apt-get install chromium); screenshots go to FORETIME_SCREENSHOTS, if that is set
check-page: $(VENV)/.dev
	$(BIN)/python -m pytest -m browser

check-real: $(VENV)/.dev
	$(BIN)/python -m pytest -m real

check-real-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow_real

# processes killed, disks that fail, run folders damaged, on purpose: a sample, or with LONG=1 all of docs/robustness.md
check-faults: $(VENV)/.dev
	$(BIN)/python -m benchmarks.faults.check $(if $(LONG),--long)

# damaged data, guided by the branches that it reaches, and hostile requests: a sample, or with LONG=1 100,000 of each, whose
# figures go into docs/robustness.md; Linux only
check-fuzz: $(VENV)/.fuzz
	$(BIN)/python -m benchmarks.fuzz $(if $(LONG),--long)
	$(BIN)/python -m benchmarks.fuzz.attack $(if $(LONG),--long)

# the newest versions that pyproject.toml allows, written into constraints.txt; torch stays until its line there is changed
lock:
	@grep '^torch==' constraints.txt > .lock.txt
	@$(PYTHON) -m venv --clear .lock
	.lock/bin/python -m pip install --quiet --constraint .lock.txt --editable '.[dev,benchmarks,fuzz,cluster]'
	@(grep '^#' constraints.txt; .lock/bin/python -m pip freeze --exclude-editable | sed 's/^\(torch==[^+]*\)+.*/\1/') > .lock.txt
	@mv .lock.txt constraints.txt && rm -rf .lock

clean:
	rm -rf $(VENV) .lock demo .pytest_cache .mypy_cache .ruff_cache
	find src -name __pycache__ -type d -exec rm -rf {} +
