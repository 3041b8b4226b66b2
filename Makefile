# Two commands do everything on a fresh machine: `make certify` and `make test`. Each sets itself up.
BACKEND ?=
# Levels without which `make certify` fails, such as "L4 L4f L1a".
NEEDS ?=
JOBS ?= auto
# The folder of the specification's documents: with it, `make test` compares the golden rows with them.
export VYRE_SPEC_DIR ?=
# The versions to install; `make CONSTRAINTS= test` takes the newest that pyproject.toml allows.
export CONSTRAINTS ?= constraints.txt
# The Pythons of `make matrix`; one that the machine lacks is named and left out.
PYTHONS ?= 3.11 3.12 3.13

BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
# Keeps what parallel checks print apart; the make of macOS does not know how.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: certify test check style types fast lint matrix docs site setup setup-dev setup-system setup-all clean

certify: setup
	$(BIN)/vyre certify $(BACKEND) $(addprefix --needs ,$(NEEDS)) --certificate certificate.json
	$(BIN)/vyre report certificate.json

test: setup-all
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

# For every edit: at the same time, because the type checker takes one core for over a minute.
check: setup-dev
	@$(MAKE) --no-print-directory --keep-going --jobs=3 $(SYNC) types style fast

lint: style types

style: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup-dev
	$(BIN)/pyright

# What needs no device, no solver run and no system package, and is done in seconds.
fast: setup-dev
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m fast

# The fast tests with the lowest and with the pinned versions, on every Python of PYTHONS.
matrix: setup-dev
	$(BIN)/python tools/matrix.py $(PYTHONS)

docs: setup-dev
	for tool in tools/make_docs_*.py; do $(BIN)/python $$tool --write || exit 1; done

# The pages as a site, in build/site; a broken link ends it.
site: setup-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "Read it, with its search: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site"

# The default backend, and the solvers that prove what is certified.
setup:
	@tools/setup.sh cpu,conform

# Every extra and the tools of development, all from pip.
setup-dev:
	@tools/setup.sh all

# The system packages of the real backends, where that may be done.
setup-system:
	@tools/setup_system.sh

setup-all: setup-system setup-dev

clean:
	rm -rf .venv .matrix .pytest_cache .ruff_cache
