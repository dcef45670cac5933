# One word per chore. `make demo` and `make test` need nothing but python3 >= 3.11, make and git.

PYTHON ?= python3
BIN := .venv/bin
DEMO ?= demo
JOBS ?= $(shell nproc)
DEMO_CONFIG := --config state=$(DEMO)/comments bib=$(DEMO)/bib.sqlite
SNAKEMAKE := $(BIN)/snakemake --quiet host

.PHONY: help setup setup-slurm setup-dev demo test test-slurm lint format bench profiles lock clean

help: ## list the chores
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 20

setup: ## make .venv with what the workflow needs
	@$(PYTHON) scripts/make_venv.py .venv requirements.txt

setup-slurm: ## the same and Snakemake's Slurm plugin
	@$(PYTHON) scripts/make_venv.py .venv requirements-slurm.txt

setup-dev: ## the same and what the tests need
	@$(PYTHON) scripts/make_venv.py .venv requirements-dev.txt

demo: ## extract, OCR and index the sample dockets
	@$(MAKE) --no-print-directory setup
	@$(BIN)/python scripts/make_sample_dockets.py --out $(DEMO)
	@$(SNAKEMAKE) -j $(JOBS) extract_all $(DEMO_CONFIG)
	@$(SNAKEMAKE) -j $(JOBS) ocr $(DEMO_CONFIG)
	@$(SNAKEMAKE) -j 1 index $(DEMO_CONFIG)
	@echo
	@$(BIN)/regcomments stats --state $(DEMO)/comments
	@echo
	@echo "Texts:  $(DEMO)/comments/<docket>/<comment>/combined.md"
	@echo "Index:  $(DEMO)/comments/_index.csv and _attachments.csv"

test: setup-dev ## run all tests but test-slurm and test-marker, which need more than Python
	@$(BIN)/python -m pytest -q -m "not slurm and not marker_env"

test-slurm: setup-dev ## Slurm tests, on three nodes on this machine (Debian's slurm-wlm, munge)
	@REGCOMMENTS_REQUIRE=slurm $(BIN)/python -m pytest -q tests/slurm

lint: setup-dev ## ruff, snakefmt, snakemake --lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile rules
	@$(BIN)/snakemake --lint

format: setup-dev ## let ruff and snakefmt format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/snakefmt Snakefile rules

bench: setup-dev ## measure speed beside the bare loop and other tools; writes docs/performance.md
	@$(PYTHON) scripts/make_venv.py .venv-bench requirements.txt
	@$(BIN)/python -m tests.benchmarks.bench --write --python .venv-bench/bin/python

bench-full: setup-dev ## one run of 164,000 comments from nothing to the index (15 minutes, 10 GB)
	@$(BIN)/python -m tests.benchmarks.full_run --comments 164000 --work .cache/full_run

bench-tables: setup-dev ## ICDAR 2013 tables, side by side with other libraries
	@$(BIN)/python tests/benchmarks/bench_tables.py

setup-peers: setup-dev ## make the environments of the tools that the benchmarks compare with (1 GB)
	@$(BIN)/python -m tests.benchmarks.peers.environments

bench-docx: setup-dev ## CPU of each DOCX beside python-docx's paragraph join
	@$(BIN)/python -m tests.benchmarks.bench_docx

bench-fidelity: setup-dev ## facts held, side by side with other tools; writes docs/fidelity.md
	@$(BIN)/python -m tests.benchmarks.fidelity

profiles: ## let `snakemake --profile rig` find profiles/rig
	@$(PYTHON) scripts/link_profiles.py

lock: ## pin the requirements anew from pyproject.toml
	@$(PYTHON) scripts/lock_requirements.py

clean: ## remove environments, caches and the demo
	rm -rf .venv .venv-marker .venv-bench .cache .snakemake .shards demo logs .pytest_cache .ruff_cache .hypothesis

setup-marker: ## make .venv-marker, which marker's processes run in (6 GB)
	@$(PYTHON) scripts/make_venv.py .venv-marker requirements-marker.txt --no-compile

test-marker: setup-dev setup-marker ## tests that drive the real marker against a stand-in
	@REGCOMMENTS_REQUIRE=marker $(BIN)/python -m pytest -q -m marker_env tests/marker

ocr-check: ## read ten sample pages with marker on HOST (HOST=rig) and print its speed
	@$(MAKE) --no-print-directory setup
	@$(BIN)/python -m regcomments.ocr.marker_check $(if $(HOST),--host $(HOST))

.PHONY: bench-full setup-marker test-marker test-slurm ocr-check bench-tables setup-peers bench-fidelity bench-docx
