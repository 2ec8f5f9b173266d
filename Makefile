# hopsim: build, run, test. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -e -o pipefail -c
.DEFAULT_GOAL := build

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done)
export PATH := $(PATH):$(HOME)/.cargo/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export PIP_QUIET := 1
export PIP_ROOT_USER_ACTION := ignore
export PYO3_PYTHON := $(abspath $(BIN)/python)

RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) \
	$(shell find crates -name '*-reference' -prune -o \( -name '*.rs' -o -name '*.toml' \) -print 2>/dev/null)
BUILT := $(VENV)/.built
MODULE := $(VENV)/.module
TESTABLE := $(VENV)/.testable
LINTABLE := $(VENV)/.lintable
DOCUMENTABLE := $(VENV)/.documentable
MUTABLE := $(VENV)/.mutable
CARGO_MUTANTS := target/tools/bin/cargo-mutants

# `$(call install,EXTRA …)` installs what pyproject.toml says hopsim and these extras need, without building hopsim.
REQUIRED := import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	extras = [project["optional-dependencies"][extra] for extra in sys.argv[1:]]; \
	print(*project["dependencies"], *sum(extras, []), sep="\n")
install = $(BIN)/python -c '$(REQUIRED)' $(1) | $(BIN)/python -m pip install -r /dev/stdin

.PHONY: build demo test test-rust test-python bench verify mutants mutants-named mutants-python mutants-rust lint lint-rust lint-python docs wheel release clean help check-tools

build: $(BUILT)  ## build everything; the command is .venv/bin/hopsim

demo: $(BUILT)  ## a sweep of a dragonfly of 1,056 nodes; tables and plots in demo-results/
	$(BIN)/hopsim run experiments/demo.toml --out demo-results --force --csv
	$(BIN)/hopsim plot demo-results

test: $(TESTABLE)  ## all fast tests, Rust and Python at the same time
	@$(MAKE) --no-print-directory --jobs=2 test-rust test-python

# Make's job slots are not passed on: rustdoc, which runs the examples in the docs, would warn of them.
test-rust: | $(BIN)/maturin  ## the Rust tests
	env -u MAKEFLAGS -u MFLAGS cargo test --quiet --workspace

test-python: $(TESTABLE)  ## the Python tests
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

bench: $(BUILT)  ## time and instructions per packet-hop, memory
	cargo build --quiet --release -p hopsim-core --example run
	$(BIN)/hopsim bench

verify: $(BUILT) $(TESTABLE)  ## slow comparisons with the reference simulator and FOGSim
	cargo test --quiet --release -p hopsim-reference -p hopsim-infiniband-reference -- --ignored
	$(BIN)/python -m verify
	HOPSIM_WRONG_CONTENTS=1000 $(BIN)/python -m pytest --numprocesses auto --timeout 0 verify/tests/test_wrong_contents.py

# All in a copy of the checkout. MUTANTS is how many of each folder of the engine are tried, SEED which ones.
MUTANTS := 8
SEED := 1
mutants:  ## break rules on purpose and see that tests notice (long)
	@$(MAKE) --no-print-directory --keep-going mutants-named mutants-python mutants-rust

mutants-named: $(TESTABLE)  ## the rules of mutants/named
	$(BIN)/python -m mutants named

mutants-python: $(MUTABLE)  ## all that mutmut can break in the modules that compute results
	$(BIN)/python -m mutants python

mutants-rust: $(BUILT) $(CARGO_MUTANTS)  ## a sample of what cargo-mutants can break in the engine
	$(BIN)/python -m mutants rust --sample $(MUTANTS) --seed $(SEED)

lint:  ## rustfmt, clippy, ruff, pyright
	@$(MAKE) --no-print-directory --jobs=2 lint-rust lint-python

# In a folder of its own, so that tests can be built at the same time.
lint-rust: | $(BIN)/maturin  ## rustfmt, clippy
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets --target-dir target/lint -- -D warnings

lint-python: $(LINTABLE)  ## ruff, pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# What somebody who calls hopsim from Rust reads.
LIBRARIES := hopsim-core hopsim-measure hopsim-experiment hopsim-cycles hopsim-network hopsim-routing hopsim-traffic hopsim-programs hopsim-infiniband
docs: $(DOCUMENTABLE)  ## documentation in build/docs: guides, mechanisms, examples, Python, Rust and C
	rm -rf build/docs
	$(BIN)/python -m docs.build build/docs
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps $(LIBRARIES:%=-p %) --target-dir target
	cp -r target/doc build/docs/rust

wheel: | $(BIN)/maturin  ## the wheel of this machine, in dist/
	rm -rf dist
	$(PYTHON) packaging/plotly_script.py
	$(BIN)/maturin build --release --locked --out dist

# PYTHONPATH would put the package of the checkout before the one that was installed.
release:  ## all that a release must have: one version, nothing uncommitted, a wheel that installs, tests against it
	$(PYTHON) packaging/release.py
	@$(MAKE) --no-print-directory lint wheel
	env -u PYTHONPATH $(PYTHON) packaging/try_wheel.py dist --tests

clean:  ## remove what the other targets made
	rm -rf $(VENV) target build dist demo-results
	find python verify -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	rm -f python/hopsim/_core*.so

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

check-tools:
	@test -n "$(PYTHON)" || { echo "hopsim needs Python 3.11 or later: install it (https://www.python.org/downloads/), then run make again" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "hopsim needs a Rust toolchain: install it from https://rustup.rs, then run make again" >&2; exit 1; }

$(BIN)/maturin: | check-tools
	@$(PYTHON) -m venv $(VENV) || { echo "hopsim needs Python's venv module: install it (Debian, Ubuntu: apt install python3-venv), then run make again" >&2; exit 1; }
	@$(BIN)/python -m pip install 'maturin>=1.9.4,<2'

$(BUILT): pyproject.toml $(RUST_SOURCES) | $(BIN)/maturin
	@echo "building hopsim (the first time takes some minutes) ..."
	@$(BIN)/maturin develop --release --extras report
	@touch $(MODULE) $@

# What the Python tests need: the module of `make build` where it is up to date; else one that is compiled from the same units
# as the Rust tests, in seconds when those are, with their checks of arithmetic, and slower.
$(MODULE): pyproject.toml $(RUST_SOURCES) | $(BIN)/maturin
	@echo "building the tests (the first time takes some minutes) ..."
	@env -u MAKEFLAGS -u MFLAGS cargo test --quiet --workspace --no-run
	@$(BIN)/maturin develop --features hopsim-core/trace
	@touch $@

$(TESTABLE): $(MODULE)
	@$(call install,test docs)
	@touch $@

$(DOCUMENTABLE): $(BUILT)
	@$(call install,docs)
	@touch $@

$(MUTABLE): $(TESTABLE)
	@$(BIN)/python -m pip install 'mutmut>=3.8,<4'
	@touch $@

$(CARGO_MUTANTS): | check-tools
	@echo "installing cargo-mutants (some minutes) ..."
	@cargo install --quiet --locked --root target/tools 'cargo-mutants@^27.1'

# Needs no compiled module: its types are in _core.pyi.
$(LINTABLE): pyproject.toml | $(BIN)/maturin
	@$(call install,test docs lint)
	@touch $@
