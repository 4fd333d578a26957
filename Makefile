# Each target works alone from a bare clone: it sets up .venv first, and again only when what to install has changed.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := rules engine grammar app

.NOTPARALLEL:
.PHONY: demo test bench load soak clean

demo: .venv/.runtime
	@$(BIN)/turnout run samples/weather --say "What's the weather in Vienna?"
	@echo "To talk to it in a browser: $(BIN)/turnout serve samples/weather, then open http://localhost:8000"

test: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(PACKAGES:%=-p turnout.%)
	$(BIN)/lint-imports --no-logo
	MALLOC_PERTURB_=165 $(BIN)/pytest -n auto

bench: .venv/.dev
	@$(BIN)/python tests/bench/run.py

load: .venv/.dev
	@$(BIN)/python tests/load/run.py

# Some of these tests take longer than what is elsewhere taken for a rule engine that hangs.
soak: .venv/.dev
	MALLOC_PERTURB_=165 $(BIN)/pytest -m soak -o faulthandler_timeout=3600

clean:
	rm -rf .venv build *.egg-info

.venv/.runtime: pyproject.toml constraints.txt
	$(call install,.[serve])
	@touch $@

.venv/.dev: pyproject.toml constraints.txt
	$(call install,.[dev])
	@touch $@ .venv/.runtime

# The install is editable, so what runs is always the current sources; mypy does not follow such an install and gets
# the same folders as links under .venv/src/turnout.
define install
@sh .ci/check-toolchain.sh "$(PYTHON)"
@test -x $(BIN)/pip || { echo "setting up .venv, once"; "$(PYTHON)" -m venv --clear .venv; }
@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '$(1)'
@mkdir -p .venv/src/turnout
@for name in $(PACKAGES); do ln -sfn ../../../$$name .venv/src/turnout/$$name; done
endef
