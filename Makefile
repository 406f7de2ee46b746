# Everything a user or developer of Factboard needs; `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
export HOST
LABEL_STUDIO := var/label-studio
EXTRAS := var/extras
# Playwright's wheel brings a node of its own; no other is needed.
NODE = $(shell $(BIN)/python -c "from playwright._impl._driver import compute_driver_executable as c; print(c()[0])")

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

# --- environment ---------------------------------------------------------------------------
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The checkout itself, so that the command `factboard` is in the environment.
EDITABLE = $(PIP_INSTALL) --quiet --no-deps --no-build-isolation --editable .

$(VENV)/.base: requirements/base.txt | $(VENV)/bin/python
	$(PIP_INSTALL) --require-hashes -r requirements/base.txt
	$(EDITABLE)
	@touch $@

$(VENV)/.dev: requirements/dev.txt | $(VENV)/bin/python
	$(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	$(EDITABLE)
	@touch $@ $(VENV)/.base

.PHONY: install
install: $(VENV)/.base ## Make the environment in .venv, enough to run the site

.PHONY: install-dev
install-dev: $(VENV)/.dev ## The same with everything that testing and checking need

.PHONY: install-semantic
install-semantic: $(VENV)/.base ## The same with sentence embeddings, about 6 GB (setting EMBEDDING_MODEL)
	$(PIP_INSTALL) --require-hashes -r requirements/semantic.txt

.PHONY: package
package: $(VENV)/.base ## Build the wheel of the command `factboard` in dist/, without the network
	rm -rf build
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist .

.PHONY: lock
lock: $(VENV)/.dev ## Write the locked requirements anew from the .in files
	$(BIN)/python requirements/lock.py

# --- run -----------------------------------------------------------------------------------
.PHONY: run
run: $(VENV)/.base ## Run the whole site on http://127.0.0.1:8000 (HOST=, PORT= to change)
	@$(BIN)/python manage.py prepare --host $(HOST) --port $(PORT)
	@$(BIN)/honcho start --port $(PORT) || [ $$? -eq 130 ]

.PHONY: dev
dev: $(VENV)/.dev ## The same with DEBUG on and reloading
	@DEBUG=on $(BIN)/python manage.py prepare --host $(HOST) --port $(PORT)
	@DEBUG=on $(BIN)/honcho --procfile Procfile.dev start --port $(PORT) || [ $$? -eq 130 ]

# --- test and check --------------------------------------------------------------------------
# Everything but browsers, real processes and long runs; of the browser tests one journey per role.
FAST := not (browser or processes or slow) or journey
PYTEST = $(BIN)/python -m pytest -q -n auto --dist loadscope
SERVICES = DATABASE_URL=$${DATABASE_URL:-postgres://postgres@127.0.0.1:5432/factboard} \
	CELERY_BROKER_URL=$${CELERY_BROKER_URL:-redis://127.0.0.1:6379/1} \
	REDIS_URL=$${REDIS_URL:-redis://127.0.0.1:6379/2} REQUIRE_SERVICES=1

.PHONY: test
test: $(VENV)/.dev test-js ## Run the tests for every change (REQUIRE_BROWSER=1, REQUIRE_TEX=1: no skips)
	$(PYTEST) -m "$(FAST)" $(ARGS)

.PHONY: test-all
test-all: test test-slow test-services ## Run every test: the above, then browser, processes, long runs, PostgreSQL and Redis

.PHONY: test-slow
test-slow: $(VENV)/.dev ## Run the tests that `make test` leaves out (REQUIRE_SERVICES=1: no skips)
	$(PYTEST) -m "not ($(FAST))" $(ARGS)

.PHONY: test-services
test-services: $(VENV)/.dev ## Run the database tests on PostgreSQL and Redis (DATABASE_URL, REDIS_URL)
	$(SERVICES) $(PYTEST) -m "database and not (browser or processes)" $(ARGS)

.PHONY: test-js
test-js: $(VENV)/.dev ## Run the JavaScript unit tests
	$(NODE) --test tests/js/*.test.mjs

.PHONY: test-extras
test-extras: $(EXTRAS)/.done ## Run the tests against inspect_ai, lm-eval and RapidOCR, in an environment that holds them (2.2 GB)
	REQUIRE_EXTRAS=1 $(EXTRAS)/bin/python -m pytest -q tests/factboard/test_engines.py tests/factboard/test_exporting.py $(ARGS)

# The lock is complete. pip would resolve it again, and does not see that fsspec[http] pins fsspec.
$(EXTRAS)/.done: requirements/extras.txt
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

.PHONY: check
check: $(VENV)/.dev ## Lint, types, imports, templates, migrations, OpenAPI document, wording
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null
	$(BIN)/python -m tests.words
	$(BIN)/python -m bench --mark docs/benchmarks.md --check

.PHONY: format
format: $(VENV)/.dev ## Let the formatter rewrite the code, and mark figures that are older than it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m bench --mark docs/benchmarks.md

.PHONY: bench
bench: $(VENV)/.dev ## Time everything beside reference packages and Label Studio (ARGS="teds ccocr" for parts, ARGS="--write docs/benchmarks.md" to keep them)
	$(BIN)/python -m bench $(if $(wildcard $(LABEL_STUDIO)/.done),--label-studio $(LABEL_STUDIO)) $(ARGS)

.PHONY: label-studio
label-studio: $(LABEL_STUDIO)/.done ## Install Label Studio into an environment of its own, for make bench

$(LABEL_STUDIO)/.done: requirements/label-studio.txt
	$(PYTHON) -m venv $(LABEL_STUDIO)
	$(LABEL_STUDIO)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.PHONY: sample
sample: $(VENV)/.dev ## Make the sample benchmark again (needs chromium, tesseract, gocr and ocrad)
	$(PIP_INSTALL) --require-hashes -r requirements/sample.txt
	$(BIN)/python -m sample.generator --images --ocr

.PHONY: clean
clean: ## Remove the environment and caches; the site's data in var/ stays
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
