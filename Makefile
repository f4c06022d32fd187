# What developers type. `make` lists it.
.DEFAULT_GOAL := help
BIN := .venv/bin

.PHONY: help setup develop check check-python check-rust check-dependencies format test fuzz bench validate noise schemas warnings reference gallery

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 12

setup: ## Install everything into .venv
	scripts/setup test lint

develop: setup ## The same, with the Python sources used in place; run again after a change of Rust
	$(BIN)/python -m pip install --quiet maturin
	VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/maturin develop --release
	touch .venv/.editable

check: check-python check-rust check-dependencies ## Format, lint, types, stubs, clippy and dependencies, without changing anything

check-python:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/stubtest fastrnns_rs._core

check-rust:
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo clippy --quiet --locked --all-targets --features python -- -D warnings
# Nothing is linked, so that libFuzzer, which takes a C++ compiler, need not be there.
	CUSTOM_LIBFUZZER_PATH=none/libnone.a RUSTFLAGS="--cfg fuzzing" cargo clippy --quiet --locked --manifest-path fuzz/Cargo.toml \
		--target-dir target/fuzz-lint -- -D warnings

check-dependencies:
	$(BIN)/python scripts/check-dependencies

format: ## Format everything
	cargo fmt
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: ## Run every quick test
	scripts/test

fuzz: ## Look for files that a reader cannot bear, a minute a target
	scripts/fuzz all 60

bench: ## Measure our own overheads against their peers
	scripts/setup test
	for bench in recorder iteration upstream_loop startup worker first_row summary ranges launches several stats command history compare compare_captures page; do $(BIN)/python benches/python/$$bench.py; done
	cargo bench --quiet

validate: ## The statistics against simulations with many trials, and the tables of docs/explanation/validation.md
	scripts/setup test
	FASTRNNS_VALIDATE=long $(BIN)/python -m pytest tests/python/test_validation_*.py
	FASTRNNS_VALIDATE=long $(BIN)/python -m pytest --part=simulations tests/python/test_validation_*.py

noise: ## False alarms on real processes, ours and others', into docs/explanation/validation.md (40 minutes)
	scripts/setup test bench
	$(BIN)/python benches/python/false_alarms.py --live 5 --output docs/explanation/validation.md

warnings: ## Write docs/reference/warnings.md from the table of warnings
	$(BIN)/python scripts/write_warnings_page.py

reference: warnings ## Write the pages of docs/reference, and the screens of the README, from the code
	$(BIN)/python scripts/write_cli_page.py
	$(BIN)/python scripts/write_api_pages.py
	$(BIN)/python scripts/write_readme_screens.py

schemas: ## Write the JSON Schemas of docs/schemas anew
	$(BIN)/python scripts/write_schemas.py

gallery: ## Write the pictures of docs/gallery, which needs Chromium
	$(BIN)/python scripts/write_gallery.py
