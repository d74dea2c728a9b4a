# Copyright the Splice authors.
# SPDX-License-Identifier: Apache-2.0

SHELL         := /bin/bash
.SHELLFLAGS   := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS     += --no-print-directory

spark_versions = $(shell sed -n 's/^$(1)=//p' project/spark.properties)

BUILT_ON := $(call spark_versions,built)
TESTED   := $(call spark_versions,tested)
SPARK    ?= $(BUILT_ON)
PYTHON   ?= python3
SEEDS    ?= 1..200
WORKERS  ?= 2
LINKED   ?= $(TESTED)
export PYTHON

# Variables of the tests: KILLS=process runs all killed queries in driver processes, and STORES=all kills on each store.
export KILLS STORES

VENV    := .venv$(if $(filter-out $(BUILT_ON),$(SPARK)),-$(SPARK))
SBT     := project/sbt
VERSION := $(shell cat VERSION)
MADE    := target/made
REPORTS := target/test-reports

# Environment variables of the scripts under tests/. The launcher of Spark ends before its optimizing compiler saves time.
SCRIPT_ENV := SPLICE_VERSION=$(VERSION) \
	SPLICE_JARS=$(CURDIR)/jvm/bundle/target/dist \
	SPLICE_REPOSITORY=$(CURDIR)/target/repository \
	SPLICE_KAFKA_SERVER=$(CURDIR)/tests/servers/target/kafka \
	SPARK_LAUNCHER_OPTS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

JVM_SOURCES    := $(shell find build.sbt VERSION LICENSE NOTICE project/*.scala project/*.sbt project/*.properties \
	$$(find jvm -type d -path '*/src/main') -type f)
PYTHON_SOURCES := $(shell find python/src python/pyproject.toml python/hatch_build.py python/README.md project/spark.properties -type f -not -name '*.pyc')

##@ Use
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo

setup: .venv/.ready ## Check the prerequisites and make .venv with the pinned Python packages

demo: $(VENV)/.wheel ## Run the demonstration (ROWS=1000000, SERVERS=host:port, KEEP=1)
	$(SCRIPT_ENV) $(VENV)/bin/python tests/demo/run.py $(if $(ROWS),--rows $(ROWS)) $(if $(SERVERS),--servers $(SERVERS)) $(if $(KEEP),--keep)

##@ Check
test: unit it ## Run every test: unit, then it

unit: .venv/.ready ## Run the tests of the JVM modules and of the Python package
	$(SBT) test
	cd python && ../.venv/bin/python -m pytest --junitxml=../$(REPORTS)/python.xml

it: $(VENV)/.wheel $(MADE)/stores $(MADE)/tables ## Run tests/ over the built wheel and jar (SPARK=one of project/spark.properties; WORKERS=2; KILLS=process; STORES=all; ARGS=pytest's)
	$(SCRIPT_ENV) $(VENV)/bin/python -m pytest tests -n $(WORKERS) --junitxml=$(REPORTS)/it-$(SPARK).xml $(ARGS)

lint: ## Check format, headers, types and warnings; every finding is an error
	project/prerequisites
	@$(MAKE) --no-print-directory -k -j2 -Otarget lint-python lint-jvm

lint-python: .venv/.ready
	@failed=(); check() { "$$@" || failed+=("$$*"); }; \
	check .venv/bin/python project/checks.py; \
	check .venv/bin/python project/language.py; \
	check .venv/bin/ruff check .; \
	check .venv/bin/ruff format --check .; \
	check .venv/bin/mypy; \
	for what in "$${failed[@]}"; do echo "lint failed: $$what" >&2; done; \
	[ $${#failed[@]} = 0 ]

lint-jvm:
	CI=true $(SBT) "scalafmtCheckAll; scalafmtSbtCheck; scalafixAll --check; Test/compile"

fmt: .venv/.ready ## Format, sort imports and add headers
	.venv/bin/ruff check --fix --exit-zero --quiet .
	.venv/bin/ruff format --quiet .
	$(SBT) "scalafmtAll; scalafmtSbt"
	.venv/bin/python project/checks.py --fix

linkage: $(MADE)/jar $(foreach spark,$(LINKED),.cache/spark-$(spark)/.ready) ## Check every call into Spark on each version of it, and the public classes against the last release (LINKED=versions)
	$(SBT) "$(foreach module,source coordinator testkit bundle,$(module)/mimaReportBinaryIssues;) linkage/run jvm/bundle/target/dist $(foreach spark,$(LINKED),$(spark)=.cache/spark-$(spark)/pyspark/jars)"

soak: $(VENV)/.wheel $(if $(STORE),$(MADE)/stores) $(if $(filter-out tables,$(KIND)),,$(MADE)/tables) ## Run the long simulations (SEEDS=1..200, KIND=hybrid, kafka, dynamic, realtime, lives, tables, files or memory, STORE=hdfs or s3 of a hybrid, BROKER=2.6 of kafka); stop and resume as you like
	$(SCRIPT_ENV) $(VENV)/bin/python tests/soak/run.py --seeds $(SEEDS) $(if $(KIND),--kind $(KIND)) $(if $(STORE),--store $(STORE)) $(if $(BROKER),--broker $(BROKER))

planted: .venv/.ready ## Plant defects into a copy of the last commit, one at a time, and require that a suite finds each (FAULTS="A3 A8")
	.venv/bin/python project/planted.py $(FAULTS)

bench: .venv/.ready ## Compare Splice with Spark's own sources, Flink's and the bare client (ROWS=10000000, ROUNDS=3, CASES=kafka,matrix,steady,memory,clusters,realtime,away,late,files,watch,listings,tables,handover,driver,plan). BASE compares two builds in turns (BASE=jar or commit, PAIRS=20, JVMS=10, CASES=kafka,jmh)
	$(SBT) "servers/stage$(if $(BASE),; bundle/dist)"
	$(SCRIPT_ENV) .venv/bin/python tests/bench/run.py

##@ Build
jar: $(MADE)/jar ## Build the jar (jvm/bundle/target/dist) and a Maven repository with it (target/repository)

wheel: $(MADE)/wheel ## Build the Python wheel with the jars in it (python/dist)

docs: .venv/.ready $(MADE)/scaladoc ## Build the documentation site (site), with the Scaladoc of the public classes
	NO_MKDOCS_2_WARNING=true .venv/bin/mkdocs build --strict

release: .venv/.ready ## Build a release into target/release and try it; nothing is uploaded (RELEASE=0.1.0, KEY=a GnuPG key, else a new one)
	PYTHONPATH=project .venv/bin/python -m releasing --version $(or $(RELEASE),$(VERSION:-SNAPSHOT=)) $(if $(KEY),--key $(KEY))

clean: ## Remove everything that was built, the virtual environments too
	rm -rf target project/target project/project jvm/*/target tests/*/target python/dist site .venv .venv-* .launcher
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup demo test unit it lint lint-python lint-jvm fmt linkage soak planted bench jar wheel docs release clean

# One run of sbt builds all files from the JVM sources. The wheel, the tests and the demonstration use these files.
$(MADE)/jar: $(JVM_SOURCES)
	@project/prerequisites
	rm -rf target/repository
	$(SBT) "bundle/dist; bundle/publish; servers/stage; testkit/killingJar"
	@mkdir -p $(@D) && touch $@

# The hook of MkDocs in project/site_api.py adds it to the site.
$(MADE)/scaladoc: $(JVM_SOURCES)
	@project/prerequisites
	$(SBT) bundle/unidoc
	rm -rf target/site/api/scala
	@mkdir -p $(@D) target/site/api
	cp -r jvm/bundle/target/scala-2.13/unidoc target/site/api/scala
	@touch $@

# The jars of real stores for checkpoints. They depend on versions alone.
$(MADE)/stores: project/Stores.scala project/Dependencies.scala project/Versions.scala project/spark.properties
	@project/prerequisites
	$(SBT) stores/stage
	@mkdir -p $(@D) && touch $@

# The jars of table formats for tests.
$(MADE)/tables: project/TableFormats.scala project/Dependencies.scala project/Versions.scala project/spark.properties
	@project/prerequisites
	$(SBT) tableFormats/stage
	@mkdir -p $(@D) && touch $@

$(MADE)/wheel: .venv/.ready $(MADE)/jar $(PYTHON_SOURCES)
	rm -rf python/dist
	.venv/bin/python -m build --wheel --no-isolation --outdir python/dist python
	@mkdir -p $(@D) && touch $@

$(VENV)/.wheel: $(VENV)/.ready $(MADE)/wheel
	$(VENV)/bin/pip install --quiet --no-deps --force-reinstall python/dist/*.whl
	@touch $@

# PySpark contains the jars of Spark, including versions without other published jars.
.cache/spark-$(BUILT_ON)/.ready: .venv/.ready
	rm -rf $(@D)
	mkdir -p $(@D)
	ln -s $$(.venv/bin/python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)') $(@D)/pyspark
	@touch $@

.cache/spark-%/.ready: | .venv/.ready
	rm -rf $(@D)
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile --target $(@D) pyspark==$*
	@touch $@

.venv/.ready: requirements/dev.txt
	@project/prerequisites
	$(call make-venv,.venv,$(BUILT_ON))

.venv-%/.ready: requirements/dev.txt
	@project/prerequisites
	$(call make-venv,.venv-$*,$*)

define make-venv
	rm -rf $(1)
	$(PYTHON) -m venv $(1)
	$(1)/bin/pip install --quiet --disable-pip-version-check -r requirements/dev.txt pyspark==$(2)
	@touch $(1)/.ready
endef
