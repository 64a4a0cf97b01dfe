# The commands of a developer; `make` alone lists them. Each first makes .venv when it is missing or out of date.

.DEFAULT_GOAL := help
.PHONY: help environment demo compiled test tests test-slow slow-tests test-lowest test-compiled dist wheels audit coverage static lint test-kafka mutate-checks transcripts prove bench docs book absorb logs-matrix diagnosis-matrix differential

# Four workers suit two cores, as many tests wait for other processes; JOBS=0 runs everything in one process.
JOBS ?= 4
# Real brokers take more processor time than the tests that wait for them: two files at a time.
# In the order of tests/apache/conftest.py, where files that share brokers follow each other.
KAFKA_JOBS ?= 2
# Which part of the tests `make test-slow` and `make test-kafka` run, by their modules: SHARE=2/3 is the second of three.
SHARE ?= 1/1
EXTRAS ?= dev,spark
RUN := .venv/bin/python
# The tests start the program hundreds of times; without kept bytecode each start would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## List the commands.
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

environment: ## .venv with the extras of EXTRAS, where it is missing or out of date; every other command begins so.
	@scripts/bootstrap $(EXTRAS)

# Its last step reads logs on Spark, which is not installed without Java.
demo: EXTRAS = $(if $(shell command -v java),spark)
demo: environment ## Start a cluster, break it, diagnose it, repair it, read its logs (about a minute, once installed).
	@scripts/demo

# To compile takes longer than the demonstration, so this is made only on request; `make demo` then uses it.
compiled: environment ## .venv.compiled with hot modules compiled: half of the processor time for a transaction (needs a C compiler).
	@scripts/bootstrap --compiled $(if $(shell command -v java),spark)
	@.venv.compiled/bin/eosctl version

# mypy alone takes half a minute of one core, which would leave the other without work.
test: ## Style and types, and at the same time the quick tests: all but some 1,100 of 24,000.
	@$(MAKE) --no-print-directory --jobs=2 static tests

tests: environment
	$(RUN) -m pytest -n $(JOBS) --dist worksteal -m "not apache and not slow"

test-slow: environment ## The tests that take 0.4 s of processor or more (tests/slow.txt).
	$(RUN) -m pytest --share $(SHARE) -n $(JOBS) --dist worksteal -m "slow and not apache"

slow-tests: environment ## Measure all tests on a quiet machine, and write tests/slow.txt.
	$(RUN) -m scripts.slow_tests -n $(JOBS) --dist worksteal

test-lowest: environment ## All tests with the lowest versions of all dependencies, in .venv.lowest.
	scripts/test-lowest -n $(JOBS) --dist worksteal tests

test-compiled: environment ## The tests of wire, storage and sandbox with their hot modules compiled (needs a C compiler).
	$(RUN) -m scripts.test_compiled

coverage: environment ## All tests with branch coverage; twice as long, so not part of `make test`.
	$(RUN) -m pytest -n $(JOBS) -m "not apache" --cov --cov-report=term:skip-covered

static: environment ## Style (with bandit's rules), types, import contracts, dead code, and prose.
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo
	$(RUN) -m scripts.dead_code
	$(RUN) -m scripts.prose

# Advisories come over the network and change daily, so `test` does not use them; an unreachable service (2) is not a failure.
lint: static ## The same, and known vulnerabilities of what is installed.
	scripts/audit-dependencies || [ $$? -eq 2 ]

test-kafka: environment ## The verdicts and bytes against real Apache Kafka (needs Java 17 and Maven).
	$(RUN) -m pytest --share $(SHARE) -n $(KAFKA_JOBS) --dist loadfile --no-loadscope-reorder -m "apache and not long" tests/apache

mutate-checks: environment ## Invert every comparison of every check; a case must notice each.
	$(RUN) -m scripts.mutate_checks

absorb: environment ## The facts of a release out of its jars, and what needs judgment: make absorb KAFKA=4.4.0 (Java 17, Maven).
	$(RUN) -m scripts.absorb $(KAFKA)

transcripts: environment ## The recorded answers of real brokers against the sandbox, by area.
	$(RUN) scripts/transcripts.py

diagnosis-matrix: environment ## The verdicts on clusters against injected faults, one and two at a time (20 min).
	$(RUN) -m scripts.diagnosis_matrix

differential: environment ## The scenarios on the sandbox and on real Kafka: where they differ (10 min; Java 17, Maven).
	$(RUN) -m scripts.differential

logs-matrix: environment ## The verdicts from logs against injected faults: precision, recall, F1.
	$(RUN) -m scripts.logs_matrix

# `make prove NAME`: the name is a goal of its own, which does nothing.
ifeq (prove,$(firstword $(MAKECMDGOALS)))
PROOFS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(PROOFS)
$(PROOFS):
	@:
endif
prove: environment ## The long runs; `make prove` lists them, `make prove NAME` writes docs/proofs/NAME.json.
	@$(RUN) -m scripts.prove $(PROOFS)

bench: environment ## Measure against the named peers, one program after the other.
	@for program in benchmarks/[a-z]*.py; do \
		echo "== $$program"; $(RUN) -m benchmarks.$$(basename $$program .py) || exit 1; \
	done

dist: environment ## Wheel and source archive, the same bytes each time, with checksums and a list of parts in dist/.
	$(RUN) -m scripts.release.archives --to dist
	scripts/list-parts dist/eosctl-*-none-any.whl dist/eosctl.cdx.json

wheels: environment ## Wheels with compiled hot modules for each python3.11 to 3.14 of this machine, in dist/ (needs a C compiler).
	$(RUN) -m scripts.release.compiled --to dist

audit: environment ## Known vulnerabilities of what is installed (asks PyPI's advisories over the network).
	scripts/audit-dependencies

docs: environment ## Generate the pages that are made from code.
	$(RUN) -m scripts.generate_reference

book: environment ## Build the documentation as a book, in build/book; a broken link fails it.
	$(RUN) -m scripts.book
	.venv/bin/sphinx-build -q -W --keep-going -b html docs build/book
