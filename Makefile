# Everything runs in a virtual environment that this file makes itself; all it needs is Python 3.11+,
# make and git. `make demo` and `make test` are the two commands of the README.

VENV ?= .venv
PYTHON ?=
PYTEST_FLAGS ?=
JOBS ?= 2
KILLS ?= 200
MINUTES ?= 30
CHAOS_FLAGS ?=

BIN := $(VENV)/bin
LIGHT := $(VENV)/.light
DEV := $(VENV)/.dev
PYWB := $(VENV)/pywb
RESULTS := .requirements.json
PARTIAL := .requirements.partial.json
CHECKED := src tests tools $(wildcard bench)
SOURCES := $(shell find src tests -type f -not -name '*.py[co]')
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check format bench bench-all prove chaos explore soak requirements coverage parts screenshots clean help
.DEFAULT_GOAL := help

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: $(LIGHT) ## crawl the sample site that comes with geomi
	@$(BIN)/geomi demo

test: $(DEV) $(PYWB)/.ready parts ## run every test: the quick ones in parallel, then the slow ones
	@rm -f $(RESULTS) $(PARTIAL)
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -n $(JOBS) -m "not slow" --requirements=$(PARTIAL) tests
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m slow --requirements=$(PARTIAL) tests
	@mv $(PARTIAL) $(RESULTS)

check: $(DEV) ## lint, format, types, layers, docs
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy $(CHECKED)
	$(BIN)/lint-imports
	$(BIN)/python tools/check_docs.py

format: $(DEV) ## let ruff put the code in order
	$(BIN)/ruff check --fix $(CHECKED)
	$(BIN)/ruff format $(CHECKED)

bench: $(DEV) ## measure a crawl beside its peers, in under five minutes
	$(BIN)/python -m bench.crawl

bench-all: $(DEV) ## the same with more rounds, for numbers worth quoting
	$(BIN)/python -m bench.crawl --rounds 7 --budget-s 3600

prove: $(DEV) parts ## run the long suites whole: marked tests, make explore, every fault of make chaos
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m prove tests
	@$(MAKE) --no-print-directory explore
	@$(MAKE) --no-print-directory chaos

chaos: $(DEV) ## kill, starve and cut off crawls on both databases, and see what is left
	$(BIN)/python -m tests.chaos --kills $(KILLS) $(CHAOS_FLAGS)

explore: $(DEV) ## explore every interleaving of the claim protocol to a depth, and kill its mutants
	$(BIN)/python -m tests.explore

soak: $(DEV) ## serve three tenants for 30 minutes with kills; memory, handles and log stay flat
	$(BIN)/python -m tests.e2e.soak --minutes $(MINUTES)

requirements: $(DEV) ## count the catalogue's requirements that passing tests prove
	@$(MAKE) --no-print-directory $(RESULTS) || echo "Some tests failed; only what passed is counted."
	@$(BIN)/python tools/requirements.py

$(RESULTS): $(SOURCES)
	@$(MAKE) --no-print-directory test PYTEST_FLAGS=-qq

coverage: $(DEV) ## branch coverage of the quick tests
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" --cov --cov-report=term-missing

parts: ## install the Debian packages that slow tests need, where that is possible
	@tools/install_parts.sh python3.11-doc chromium

screenshots: $(DEV) parts ## show every view of the dashboard in the documentation
	@tools/install_parts.sh fonts-noto-cjk
	$(BIN)/python -m tools.screenshots

clean: ## remove what was made here
	rm -rf $(VENV) build dist htmlcov .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache \
		.import_linter_cache $(RESULTS) $(PARTIAL)

$(BIN)/python:
	@tools/make_venv.sh "$(VENV)" $(PYTHON)

$(LIGHT): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing geomi into $(VENV) …"
	@$(PIP_INSTALL) -e .
	@touch $@

$(PYWB)/.ready: tools/pywb.txt | $(BIN)/python
	@echo "Installing pywb into $(PYWB) …"
	@{ $(BIN)/python -m venv --clear $(PYWB) \
		&& $(PYWB)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $< \
		&& touch $@; } || echo "Could not install pywb; the test that needs it will say so." >&2

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing geomi and its tools into $(VENV) …"
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $(LIGHT) $@
