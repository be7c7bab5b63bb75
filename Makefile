# Every target runs the npm script of the same name in package.json, which does all its own set-up.
# ARGS goes to that script: make test ARGS="--selectProjects framework"

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

ifneq ($(filter-out help,$(MAKECMDGOALS)),)
ifeq ($(shell command -v npm 2>/dev/null),)
$(error Node.js 20.19 or newer, with npm, is needed: https://nodejs.org/en/download)
endif
endif

.PHONY: help
help: ## Lists these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run sample
run: ## Starts the sample application on http://127.0.0.1:8000 (PORT=8001 make run for another port)
	@npm run --silent prestart
	@cd sample-auth-app && exec $(foreground) $$(node -p 'require("./package.json").scripts.start.replace(/^exec /, "")')

sample: run # so that `make run sample` may be said as well
	@:

# Without Perl everything works but the status after Ctrl-C, which is then make's own.
foreground = $(and $(shell command -v perl 2>/dev/null),../.ci/foreground.pl)

.PHONY: demo
demo: ## Starts the sample application, walks through its whole flow with curl, stops it
	@npm run --silent demo -- $(ARGS)

.PHONY: test
test: ## Runs every test of every workspace
	@npm test --silent -- $(ARGS)

.PHONY: test-all
test-all: ## Runs the slow checks too
	@npm run --silent test-all -- $(ARGS)

.PHONY: replicas
replicas: ## Runs three replicas on PostgreSQL and Redis behind nginx, and shows that they act as one
	@npm run --silent replicas -- $(ARGS)

.PHONY: faults
faults: ## Breaks the server in every way that it must withstand: kills, floods, full disks (ARGS="sigterm" for some)
	@npm run --silent faults -- $(ARGS)

.PHONY: check
check: ## Checks format, lint and types, those of the tests included
	@npm run --silent check

.PHONY: format
format: ## Formats the code, and mends what the linter can mend
	@npm run --silent format

.PHONY: build
build: ## Builds what has changed
	@npm run --silent build

.PHONY: bench
bench: ## Measures the framework by the reference protocol, in a minute or two (QUICK=1, PEERS=1)
	@npm run --silent bench -- $(ARGS)

.PHONY: bench-compare
bench-compare: ## Compares the ratios to the peers with the committed baseline; fails when one is more than 5 % lower
	@npm run --silent bench-compare -- $(ARGS)

.PHONY: bench-baseline
bench-baseline: ## Measures the ratios to the peers anew and writes the baseline
	@npm run --silent bench-baseline -- $(ARGS)

.PHONY: bench-page
bench-page: ## Writes the figures and charts of the last run into the documentation (RUN=file.json for another)
	@npm run --silent bench-page -- $(ARGS)

.PHONY: scaffold
scaffold: ## Writes a new application into a new folder (make scaffold NAME=my-app)
	@$(if $(NAME),,$(error Say which folder to write: make scaffold NAME=my-app))npm run --silent scaffold -- '$(NAME)' --yes $(ARGS)

.PHONY: docs
docs: ## Builds the documentation as a searchable site into .cache/site/dist
	@npm run --silent docs

.PHONY: pictures
pictures: ## Takes the pictures of the documentation anew, from what runs (Chromium is needed)
	@npm run --silent pictures

.PHONY: clean
clean: ## Removes the packages, builds, generated code and caches; databases stay
	@npm run --silent clean
