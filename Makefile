# Two commands do everything on a fresh machine: `make certify` and `make test`. Each sets itself up.
BACKEND ?=
JOBS ?= auto

.PHONY: certify test lint docs setup clean

certify: setup
	.venv/bin/vyre certify $(BACKEND)

test: setup
	.venv/bin/python -m pytest -n $(JOBS) --dist loadscope

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/pyright

docs: setup
	for tool in tools/make_docs_*.py; do .venv/bin/python $$tool || exit 1; done

setup:
	@tools/setup.sh

clean:
	rm -rf .venv .pytest_cache .ruff_cache
