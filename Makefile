# Two commands do everything on a fresh machine: `make certify` and `make test`. Each sets itself up.
BACKEND ?=
JOBS ?= auto
# The folder of the specification's documents: with it, `make test` compares the golden rows with them.
export VYRE_SPEC_DIR ?=

.PHONY: certify test lint docs setup setup-all clean

certify: setup
	.venv/bin/vyre certify $(BACKEND) --certificate certificate.json
	.venv/bin/vyre report certificate.json

test: setup-all
	.venv/bin/python -m pytest -n $(JOBS) --dist loadfile

lint: setup-all
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/pyright

docs: setup-all
	for tool in tools/make_docs_*.py; do .venv/bin/python $$tool --write || exit 1; done

# The default backend, and the solvers that prove what is certified.
setup:
	@tools/setup.sh cpu,conform

# Every backend, the system packages they need where that may be done, and the oracles of the tests.
setup-all:
	@tools/setup_system.sh
	@tools/setup.sh all

clean:
	rm -rf .venv .pytest_cache .ruff_cache
