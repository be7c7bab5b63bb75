# Every target runs the npm script of the same name in package.json, which does all its own set-up.
# ARGS goes to that script: make test ARGS="--selectProjects framework"

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

ifneq ($(filter-out help,$(MAKECMDGOALS)),)
ifeq ($(shell command -v npm 2>/dev/null),)
$(error npm is missing: install Node.js 20.19 or newer from https://nodejs.org/en/download)
endif
endif

.PHONY: help
help: ## Lists all commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run sample
run: ## Starts the sample application on http://127.0.0.1:8000 (PORT=8001 make run for another port)
	@npm run --silent prestart
	@cd sample-auth-app && exec $(foreground) $$(node -p 'require("./package.json").scripts.start')

sample: run # `make run sample` is the same
	@:

# Without Perl the status after Ctrl-C is that of make; all else works.
foreground = $(and $(shell command -v perl 2>/dev/null),../.ci/foreground.pl)

.PHONY: demo
demo: ## Starts the sample application, runs its whole flow with curl, and stops it
	@npm run --silent demo -- $(ARGS)

.PHONY: test
test: ## Runs the tests of all workspaces
	@npm test --silent -- $(ARGS)

.PHONY: test-all
test-all: ## Runs the tests with the slow ones, and on the newest LTS of Node what depends on Node
	@npm run --silent test-all -- $(ARGS)

.PHONY: test-lts
test-lts: ## Runs the tests of the core and the jobs, and a few others, on the newest LTS of Node
	@npm run --silent test-lts

.PHONY: mutations
mutations: ## Breaks one line at a time, and shows that a test fails (ARGS="cors redis" selects files)
	@npm run --silent mutations -- $(ARGS)

.PHONY: soak
soak: ## Sends an hour of mixed traffic, and shows that memory stays flat (ARGS=10 for 10 minutes)
	@npm run --silent soak -- $(ARGS)

.PHONY: replicas
replicas: ## Tests three replicas and two workers behind nginx, and restarts them under load
	@npm run --silent replicas -- $(ARGS)

.PHONY: faults
faults: ## Injects faults into a real server: kills, floods, full disks (ARGS="sigterm" selects some)
	@npm run --silent faults -- $(ARGS)

.PHONY: check
check: ## Checks format, lint, types, public API and prose
	@npm run --silent check

.PHONY: format
format: ## Formats the code and applies fixes of the linter
	@npm run --silent format

.PHONY: build
build: ## Builds changed workspaces
	@npm run --silent build

.PHONY: bench
bench: ## Runs the benchmarks, in a minute or two (QUICK=1, PEERS=1, ONLY=bun)
	@npm run --silent bench -- $(ARGS)

.PHONY: bench-compare
bench-compare: ## Measures beside another commit, up to 10 minutes (BASE=v0.1.0)
	@npm run --silent bench-compare -- $(ARGS)

.PHONY: bench-overlap
bench-overlap: ## Compares the intervals of two runs (RUN=one.json,other.json)
	@npm run --silent bench-overlap -- $(ARGS)

.PHONY: bench-page
bench-page: ## Writes the figures of the last benchmark into the documentation (RUN=file.json for another)
	@npm run --silent bench-page -- $(ARGS)

.PHONY: scaffold
scaffold: ## Creates a project in a new folder (make scaffold NAME=my-app)
	@$(if $(NAME),,$(error NAME is missing: write make scaffold NAME=my-app))npm run --silent scaffold -- '$(NAME)' --yes $(ARGS)

.PHONY: pack
pack: ## Packs all packages, and tries them out in empty folders with npm, pnpm and Yarn (ARGS="npm" selects one)
	@npm run --silent pack -- $(ARGS)

.PHONY: docs
docs: ## Builds the documentation as a site, in .cache/site/dist
	@npm run --silent docs

.PHONY: pictures
pictures: ## Takes the pictures of the documentation again, from running programs (needs Chromium)
	@npm run --silent pictures

.PHONY: clean
clean: ## Removes packages, builds, generated code and caches; keeps databases
	@npm run --silent clean
