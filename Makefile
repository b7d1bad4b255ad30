# Everything from a clean clone: `make demo` shows the main job, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup demo test lint bench soak hosts model docs panel pictures clean

setup: $(STAMP)

$(STAMP): pyproject.toml scripts/setup.sh
	PYTHON="$(PYTHON)" bash scripts/setup.sh $(VENV)
	@touch $(STAMP)

panel: setup
	$(BIN)/python scripts/build_panel.py

pictures: panel
	$(BIN)/python scripts/pictures.py

demo: setup
	@$(BIN)/python scripts/build_panel.py --if-possible
	@RECOLLECT_MODELS=$(VENV)/share/models $(BIN)/python scripts/demo.py

test: setup lint
	$(BIN)/python scripts/build_panel.py --if-possible
	$(BIN)/python -m pytest -n auto --ignore tests/embed --ignore tests/panel
	$(BIN)/python -m pytest -n auto tests/panel  # on their own: a browser holds its thread's event loop
	RECOLLECT_MODELS=$(VENV)/share/models $(BIN)/python -m pytest -n auto tests/embed

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/reference.py --check

bench: setup
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/secret_scanner.py
	$(BIN)/python benchmarks/vectors.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python benchmarks/dialogue.py

soak: setup
	RECOLLECT_SOAK=$${RECOLLECT_SOAK:-1} $(BIN)/python benchmarks/faults.py
	RECOLLECT_SOAK=$${RECOLLECT_SOAK:-1} $(BIN)/python -m pytest tests/panel/test_quality.py -k hostile
	RECOLLECT_HTTP_CASES=100 $(BIN)/python -m pytest -n 0 tests/interfaces/http/test_contract.py
	RECOLLECT_SYNC_SEEDS=20000 RECOLLECT_SYNC_STEPS=100 $(BIN)/python -m pytest -n auto tests/sync/test_simulation.py
	$(BIN)/python benchmarks/members_sight.py --worlds 10000
	$(BIN)/python benchmarks/failover.py --rounds 50

hosts: setup
	$(BIN)/python scripts/hosts.py

model: setup
	$(BIN)/python scripts/real_model.py $(VENV)/share/llm

docs: setup
	$(BIN)/python scripts/reference.py

clean:
	rm -rf $(VENV) build dist panel/node_modules src/recollect/interfaces/http/panel .mypy_cache .ruff_cache .hypothesis
