# Two commands do everything: `make demo` and `make test`. Each makes the environment it needs,
# keyed by its lock file and the Python version, and finds it ready the next time.

PYTHON ?= python3
ONCE ?=
key = $(shell { cat $(1); $(PYTHON) -V; } | sha256sum | cut -c1-16)
RUN := .venv/run-$(call key,requirements.lock)
DEV := .venv/dev-$(call key,requirements-dev.lock)
STAGE := PATH="$(CURDIR)/$(DEV)/bin:$$PATH" .ci/stage
EXAMPLE := examples/chapters
SPOKEN := examples/compaction
TORCH := torch==2.13.0  # no lock can pin it for all machines
unexport PYTHONDONTWRITEBYTECODE  # tests start many processes, which share compiled modules

QUICK := tests/snapshot tests/golden tests/contracts tests/test_project.py tests/io tests/text \
  tests/report tests/stats tests/metaeval tests/chapters tests/summaries tests/scoring src

.PHONY: quick snapshot demo test system prove prove-168h browser lint format types scripts layers tests docs refresh pictures lock release-check clean

demo: $(RUN)/.installed  ## score the example corpus, summarize speech, skim days, serve a study (ONCE=1: do not serve)
	@mkdir -p out
	@$(RUN)/bin/earwitness score $(EXAMPLE)/outputs.jsonl $(EXAMPLE)/references.jsonl --worst 3 \
	  --samples out/samples.csv
	@$(RUN)/bin/earwitness compare $(EXAMPLE)/outputs.jsonl $(EXAMPLE)/annotators.jsonl \
	  --collar 0.5,1,2,3,5,10,30 \
	  --value boundary_similarity --value collar_f1@3.0 --by kind --worst 5 --output out/report.html
	@$(RUN)/bin/earwitness summarizer train-grammar $(SPOKEN)/treebank.conllu -o out/grammar.json
	@$(RUN)/bin/earwitness summarize $(SPOKEN)/news-01.flac --grammar out/grammar.json --scope speech \
	  --write words -o out/summary.jsonl -o out/summary.wav -o out/summary.html
	@$(RUN)/bin/earwitness network $(SPOKEN)/news-01.jsonl news-01 --outputs out/summary.jsonl
	@$(RUN)/bin/earwitness score out/summary.jsonl $(SPOKEN)/news-01.jsonl --metric sumaccy
	@$(RUN)/bin/python examples/listen/make.py out/listen
	@$(RUN)/bin/earwitness study links out/listen/study.yaml --db out/listen/study.db \
	  --base http://127.0.0.1:8000
	@test -e out/plane/study.yaml || { rm -rf out/plane; $(RUN)/bin/python examples/plane/make.py out/plane; }
	@echo "skims to place on the TC/SD plane: $(RUN)/bin/earwitness serve out/plane/study.yaml"
	@echo "preview: $(RUN)/bin/earwitness serve out/listen/study.yaml --preview"
	@test -n "$(ONCE)" || $(RUN)/bin/earwitness serve out/listen/study.yaml

test:  ## everything, with small counts; every stage runs, and all failures are listed at the end
	@.ci/stages lint format types scripts layers tests browser

system:  ## what no Python package has: Chromium, for pages, flite, for speech, LibreOffice, for workbooks, TypeScript, for scripts
	@.ci/chromium install
	@.ci/flite install
	@.ci/libreoffice install
	@.ci/typescript install

lint: $(DEV)/.installed
	@$(STAGE) lint ruff check .

format: $(DEV)/.installed
	@$(STAGE) format ruff format --check .

types: $(DEV)/.installed
	@$(STAGE) types mypy --num-workers 2

scripts:  ## types of the scripts of listeners' pages, and their tests in Node
	@.ci/typescript
	@$(STAGE) scripts .venv/typescript/bin/tsc --project .
	@$(STAGE) script-tests node --experimental-vm-modules --no-warnings --test --test-reporter spec \
	  tests/scripts/*.test.mjs

layers: $(DEV)/.installed
	@$(STAGE) layers lint-imports --no-logo

tests: $(DEV)/.installed
	@.ci/flite
	@OPENBLAS_NUM_THREADS=1 $(STAGE) tests pytest -q -n 2 --dist worksteal

quick: $(DEV)/.installed  ## unit tests, golden values, contracts and the snapshot
	@OPENBLAS_NUM_THREADS=1 $(STAGE) quick pytest -q -n 2 --dist worksteal $(QUICK)

snapshot: $(DEV)/.installed  ## record again what commands print and write, and what metrics give
	@OPENBLAS_NUM_THREADS=1 $(DEV)/bin/python tests/snapshot/record.py

prove: $(DEV)/.installed  ## full counts and benchmarks of this commit, into docs/proof.md; goes on where it was stopped
	@$(STAGE) prove python benchmarks/prove.py

prove-168h: $(DEV)/.installed  ## the benchmark of a week of sound, which joins the page of its commit
	@$(STAGE) prove-168h python benchmarks/prove.py --week

# Sound in a browser takes its time, in which another worker works. A busy machine may not give the
# time that it needs: what fails is run again, alone.
browser: $(DEV)/.installed  ## reports and the pages of listeners in Chromium, workbooks in LibreOffice
	@.ci/chromium
	@.ci/libreoffice
	@OPENBLAS_NUM_THREADS=1 $(STAGE) browser pytest -q -n 3 --dist worksteal browser || \
	  OPENBLAS_NUM_THREADS=1 $(STAGE) browser-again pytest -q --last-failed \
	  --last-failed-no-failures none browser

docs: $(DEV)/.installed  ## write the generated pages and figures, and the website into out/site
	@$(DEV)/bin/python docs/generate.py
	@$(DEV)/bin/python docs/figures.py
	@NO_MKDOCS_2_WARNING=1 $(STAGE) site python -m mkdocs build --quiet

refresh: $(DEV)/.installed  ## run the commands in all documents and notebooks and rewrite their outputs
	@OPENBLAS_NUM_THREADS=1 $(DEV)/bin/python docs/refresh.py
	@OPENBLAS_NUM_THREADS=1 $(DEV)/bin/python docs/notebooks.py

pictures: $(DEV)/.installed  ## take the screenshots of the README again, in Chromium
	@.ci/chromium
	@$(DEV)/bin/python docs/pictures.py

lock:  ## solve the dependencies again; needs uv
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate --upgrade --quiet --all-extras --group dev --output-file requirements-dev.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate --upgrade --quiet --extra audio --extra serve --extra summarizer --extra xlsx --extra zstd --group build --constraint requirements-dev.lock \
	  --output-file requirements.lock

release-check:  ## build sdist and wheel, and try the program and each extra in clean environments
	@.ci/stage release-check $(PYTHON) .ci/release_check.py --torch $(TORCH) --keep dist

clean:
	rm -rf .venv out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/run-%/.locked: requirements.lock
	@.ci/environment $(PYTHON) $(@D) $<

.venv/dev-%/.locked: requirements-dev.lock
	@.ci/environment $(PYTHON) $(@D) $< $(TORCH)

%/.installed: %/.locked pyproject.toml
	@ln -sfn $(*F) .venv/$(firstword $(subst -, ,$(*F)))
	@$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.SECONDARY:
