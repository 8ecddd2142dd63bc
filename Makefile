# SPDX-License-Identifier: BSD-3-Clause
# The commands of the README are `make demo`, `make test` and `make test-all`. Everything is built in $(BUILD).
BUILD  ?= build
PREFIX ?= /usr/local
# yes: apt-get where that is possible; local: only into $(BUILD); no: install nothing, say what is missing
INSTALL ?= yes
BENCH  ?= moore:3:1 --op alltoall --bytes 8,512,32768 --ranks 2

export BUILD INSTALL
# ninja would start two jobs more than there are cores: these then have a tenth more to do
CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL
# tools/setup.sh puts tools from PyPI here where the machine has none
export PATH := $(abspath $(BUILD))/local/bin:$(PATH)
python := $(BUILD)/venv/bin/python
build := $(python) tools/build.py $(BUILD)

.DEFAULT_GOAL := help
.PHONY: help build demo test test-all test-long test-alone test-large test-conformance test-cluster test-gpu bench reproduce docs wheel install format clean distclean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile
	@echo "  Installing: INSTALL=yes (default: apt-get, or PyPI without root), local (PyPI only), no (nothing)."
	@echo "  Also: BUILD=build  PREFIX=/usr/local  BENCH='moore:3:1 --bytes 8 ...'  REPRODUCE='--matrices DIR'  CXX=  PYTHON=  CMAKE_ARGS="

build: ## install what is missing and build the library, the command line, examples and benchmark
	@tools/setup.sh build
	@$(build)

demo: ## the 3-d heat equation: tonari's exchange beside native MPI, checked, with a picture
	@tools/setup.sh demo
	@$(build) tonari_demo
	@$(python) examples/heat3d/demo.py --build $(BUILD)

test: ## everything the tests need, then the tests of every day, under Open MPI and MPICH
	@tools/setup.sh test
	@$(build) tonari_tests
	@tools/run-tests.sh

test-all: ## the other tests: more numbers of ranks, large cases, more of the benchmarks; sanitizers
	@tools/setup.sh test
	@$(build) $$(tools/drawn-share.sh targets)
	@tools/run-tests.sh more

test-long: ## repeats tests under other MPIs, on more numbers of ranks, with more seeds: before releases
	@tools/setup.sh test
	@$(build) all tonari_long_tests
	@tools/run-tests.sh long

test-alone: ## each header and source of the library compiled alone, as builds without batches do
	@tools/setup.sh test
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -L '^alone$$'

test-large: ## blocks of 2.5 GB through everything: needs up to 21 GB of memory, and many minutes
	@tools/setup.sh test
	@$(build) large_tests
	@TONARI_TEST_LARGE=1 ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -L '^large$$'

test-conformance: ## other people's suites whole, mpi4py's and MPICH's, and ours, without and with `tonari run`
	@tools/setup.sh test
	@$(build) conformance_tests
	@PYTHONPATH=python:$(BUILD)/python TONARI_BUILD=$(abspath $(BUILD)) $(python) -m pytest tests/conformance -p no:cacheprovider -rs

test-cluster: ## jobs under Slurm on hosts that are network namespaces; needs root and Debian's Slurm
	@tools/setup.sh test
	@$(build) cluster_tests
	@TONARI_BUILD=$(abspath $(BUILD)) $(python) -m pytest tests/cluster -p no:cacheprovider -rs

test-gpu: ## the tests of devices on a GPU of this machine; without one it says so and lists them
	@tools/setup.sh test
	@$(build) all_gpu_tests
	@$(python) tools/test_gpu.py $(BUILD)

bench: ## compare with the native collectives (options of `./tonari bench` in BENCH=)
	@tools/setup.sh bench
	@$(build) whole_tonari_bench$(addprefix _,$(filter inplace halo spmv sparse,$(firstword $(BENCH))))
	@TONARI_BUILD=$(abspath $(BUILD)) ./tonari bench $(BENCH)

reproduce: ## the figures of five papers again, as one report; SHORT=yes: small, in two minutes
	@tools/setup.sh bench
	@$(build) tonari_benchmarks
	@TONARI_BUILD=$(abspath $(BUILD)) ./tonari reproduce --folder $(BUILD)/reproduce$(if $(SHORT),-short --short) $(REPRODUCE)

docs: ## the documentation as a site, with tables and pictures made from the code; warnings are errors
	@tools/setup.sh docs
	@$(build) _tonari_core
	@PYTHONPATH=python:$(BUILD)/python $(python) tools/site/build_site.py $(BUILD)/site

wheel: ## a wheel that pip installs without a compiler, and the package of sources, in $(BUILD)/wheel
	@tools/setup.sh wheel
	@tools/wheel.sh $(BUILD) $(BUILD)/wheel

install: build ## install library, headers and command line under PREFIX
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## format C and C++ (clang-format) and Python (ruff), as the tests demand
	@tools/setup.sh build
	@tools/format.sh

clean: ## remove what was compiled; keeps the virtual environment and tools from PyPI
	@if [ -f $(BUILD)/build.ninja ]; then cmake --build $(BUILD) --target clean; fi

distclean: ## remove the whole build tree
	@rm -rf $(BUILD)
