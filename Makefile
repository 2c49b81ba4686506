# ngx_http_submission_module
#
#   make run        build, and start a demo nginx in the background (PORT=8080);
#                   it gets some traffic (DEMO_TRAFFIC=off: none)
#   make run-cluster
#                   the same with two instances and HAProxy before them
#   make stop       stop it
#   make build      build/ngx_http_submission_module.so for Debian's nginx
#   make install    put it into nginx's module directory (DESTDIR is honoured)
#   make test       unit tests, Test::Nginx suites and cluster tests, on SQLite
#                   and on a PostgreSQL of their own
#   make test-store the same on a server of yours: SUBMISSION_TEST_STORE="..."
#   make install-sql STORE=postgres ARGS="-h db1 -U owner -d submission"
#                   the schema and its procedures, see sql/install.sh
#   make test-browser
#                   the console, in Chromium; part of "make test"
#   make lint       layers of src/, T-SQL, OpenAPI, scripts, names:
#                   t/tools/lint.sh
#   make asan       the suites and cluster tests under ASAN and UBSan
#   make fuzz       the core's parsers, by libFuzzer, FUZZ_SECONDS=60 each
#   make fuzz-http  clients of all kinds, on an nginx with sanitizers, for
#                   FUZZ_SECONDS=60
#   make mutants    the guarantees, broken one by one: a test must go red for
#                   each; MUTANTS="G6" picks some
#   make model      the lease protocol, checked exhaustively with spin
#   make bench      the measurements
#   make clean      remove build/
#
# Each target installs the Debian packages that it needs, and builds what
# changed. V=1 shows the compiler's lines. TESTS="t/001-submit.t" picks tests.

MODULE      = ngx_http_submission_module
NGINX_BIN   = /usr/sbin/nginx
NGINX_SRC   = /usr/share/nginx/src
NDK_SRC     = /usr/share/nginx-ndk/src
MODULES_DIR = /usr/lib/nginx/modules

PORT         = 8080
GATEWAY_PORT = 9090
DEMO_TRAFFIC = on

SO    = build/$(MODULE).so
OBJS  = $(CURDIR)/build/module
EMBED = sh src/store/sqlite/sm_sql_embed.sh sql/sqlite

EMBED_CONSOLE = sh src/console/ngx_http_submission_embed.sh console

JOBS  = $(shell nproc)
QUIET = $(if $(V),,-s)

PROVE_FLAGS = -- $(if $(V),-v) --timer
PROVE       = t/tools/prove.sh

TESTS         =
API_TESTS     = $(sort $(wildcard t/*.t))
CLUSTER_TESTS = $(sort $(wildcard t/cluster/*.t))
BROWSER_TESTS = $(sort $(wildcard t/browser/*.t))
SUITES        = $(or $(TESTS),$(API_TESTS) $(CLUSTER_TESTS))

# how many at a time: most of them wait, for a lease or a time-out

TEST_JOBS ?= 6

# on another store than SQLite: what has nothing to do with it skips itself

STORE_TESTS = $(or $(TESTS),$(UNIT_TESTS) $(SUITES))

.PHONY: all build run run-cluster stop install clean
.PHONY: test test-unit test-api test-cluster test-store test-postgres
.PHONY: test-valgrind test-browser axe webhooks-js install-sql
.PHONY: test-nginx-versions newest asan fuzz-http bench model mutants lint

# recipes run compilers and tests in parallel, targets wait for one another

ifeq ($(MAKELEVEL),0)
.NOTPARALLEL:
endif

all: build


# Debian packages

DEPS_BUILD    = gcc libc6-dev nginx nginx-dev libpcre2-dev zlib1g-dev \
                libnginx-mod-http-ndk libnginx-mod-http-ndk-dev \
                libssl-dev libyajl-dev libsqlite3-dev libpq-dev unixodbc-dev \
                libicu-dev
DEPS_RUN      = curl
DEPS_TEST     = perl procps curl openssl python3 sqlite3 haproxy \
                python3-jsonschema python3-yaml \
                libtest-base-perl libwww-perl libtext-diff-perl \
                liblist-moreutils-perl libtest-longstring-perl \
                libipc-run-perl liburi-perl \
                postgresql libdbd-pg-perl libfaketime \
                postgresql-15-plpgsql-check sqlfluff shellcheck
DEPS_BROWSER  = chromium chromium-driver fonts-dejavu-core
DEPS_FUZZ     = clang libclang-rt-dev
DEPS_FREETDS  = tdsodbc libdbd-odbc-perl
DEPS_SOURCE   = dpkg-dev patch xz-utils
DEPS_VALGRIND = valgrind libc6-dbg
DEPS_BENCH    = wrk perl procps postgresql valgrind
DEPS_MODEL    = gcc libc6-dev perl spin

.PHONY: deps deps-build deps-run deps-test deps-source deps-valgrind deps-bench
.PHONY: deps-model deps-browser

deps:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_RUN) $(DEPS_TEST) $(DEPS_FUZZ) \
	                 $(DEPS_BROWSER)

deps-build:
	@t/tools/deps.sh $(DEPS_BUILD)

deps-run:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_RUN)

deps-test:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_FUZZ)

deps-browser:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_BROWSER)

deps-source:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_SOURCE)

deps-valgrind:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_SOURCE) \
	                 $(DEPS_VALGRIND)

deps-bench:
	@t/tools/deps.sh $(DEPS_BUILD) $(DEPS_RUN) sqlite3 $(DEPS_BENCH)

deps-model:
	@t/tools/deps.sh $(DEPS_MODEL)


# The module, out of tree, with the flags of the distribution's nginx.
#
# nginx's own CFLAGS have -W -Wall -Wno-unused-parameter -Werror. They are not
# repeated in --with-cc-opt: some of configure's feature tests do not compile
# under them, and the module would lack NGX_HAVE_PWRITE, which nginx has.

CONFIGURE = cd $(NGINX_SRC) && . ./conf_flags && ./configure \
            --with-cc-opt="-g -O2 -fPIC" --with-ld-opt=-fPIC \
            "$${NGX_CONF_FLAGS[@]}" \
            --add-module=$(NDK_SRC) \
            --add-dynamic-module=$(CURDIR) --builddir=$(OBJS)

build: deps-build
	@$(MAKE) --no-print-directory $(SO)

# configured anew when config changes, or nginx, or the repository has moved

build/module/key: FORCE
	@mkdir -p $(@D)
	@{ echo $(CURDIR); dpkg-query -W nginx-dev; cksum config; \
	   find src | sort; } > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

build/module/configured: build/module/key
	@echo "configuring $(MODULE)"
	@bash -c '$(CONFIGURE)' > build/module/configure.log 2>&1 \
	    || { tail -n 20 build/module/configure.log; exit 1; }
	@touch $@

build/module/$(MODULE).so: build/module/configured FORCE
	@$(EMBED) $(OBJS)/sm_sqlite_sql.h
	@$(EMBED_CONSOLE) $(OBJS)/ngx_http_submission_console_files.h
	@$(MAKE) $(QUIET) --no-print-directory -j$(JOBS) \
	         -f $(OBJS)/Makefile -C $(NGINX_SRC) modules

# a new file, not new contents: a running nginx has the old one mapped

$(SO): build/module/$(MODULE).so
	@install -m 644 $< $@
	@echo "built $@"

FORCE:


run: deps-run build
	@NGINX_BIN=$(NGINX_BIN) PORT=$(PORT) GATEWAY_PORT=$(GATEWAY_PORT) \
	 DEMO_TRAFFIC=$(DEMO_TRAFFIC) demo/demo.sh start

run-cluster: deps-run build
	@t/tools/deps.sh haproxy procps
	@NGINX_BIN=$(NGINX_BIN) PORT=$(PORT) GATEWAY_PORT=$(GATEWAY_PORT) \
	 DEMO_TRAFFIC=$(DEMO_TRAFFIC) demo/demo.sh cluster

stop:
	@demo/demo.sh stop

install: build
	install -D -m 644 $(SO) $(DESTDIR)$(MODULES_DIR)/$(MODULE).so

clean:
	rm -rf build


# what knows nothing of nginx

CORE_DIRS   = src/core/base src/core/model src/core/rule
LOW_DIRS    = $(CORE_DIRS) src/store src/store/work \
              src/store/sqlite src/store/postgres src/store/odbc


# Unit tests: core and store without nginx, one program for each t/unit/*.c

UNIT_CFLAGS = -std=gnu11 -Wall -Wextra -Werror -g -O1 -fno-omit-frame-pointer \
              -fsanitize=address,undefined -fno-sanitize-recover=all \
              $(LOW_DIRS:%=-I%) -Isrc/module -It/unit -Ibuild/unit/include \
              -isystem /usr/include/postgresql
UNIT_LIBS   = -lyajl -lsqlite3 -lpq -lodbc -lssl -lcrypto -licui18n -licuuc -lpthread

UNIT_OBJS   = $(patsubst src/%.c,build/unit/obj/%.o, \
                         $(wildcard $(LOW_DIRS:%=%/*.c)))
UNIT_TESTS  = $(patsubst t/unit/%.c,build/unit/%,$(wildcard t/unit/*.c))
UNIT_SQL    = build/unit/include/sm_sqlite_sql.h
NEXT_SQL    = build/unit/include/next/sm_sqlite_sql.h

.PHONY: unit-tests
.SECONDARY: $(UNIT_OBJS)

unit-tests: $(UNIT_TESTS)
	@:

$(UNIT_SQL): src/store/sqlite/sm_sql_embed.sh \
             $(wildcard sql/sqlite/*.sql sql/sqlite/migrate/*.sql)
	@mkdir -p $(@D)
	@$(EMBED) $@
	@touch $@

# that of a release to which the tests migrate

$(NEXT_SQL): $(UNIT_SQL) t/schema/next.pl $(wildcard t/schema/next/sqlite/*.sql \
             t/schema/next/sqlite/migrate/*.sql)
	@mkdir -p $(@D)
	@rm -rf build/unit/next
	@t/schema/next.pl build/unit/next
	@sh src/store/sqlite/sm_sql_embed.sh build/unit/next/sqlite $@
	@touch $@

build/unit/obj/%.o: src/%.c Makefile | $(UNIT_SQL)
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC $<" &&) $(CC) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

build/unit/%: t/unit/%.c $(UNIT_OBJS) Makefile | $(UNIT_SQL) $(NEXT_SQL)
	@$(CC) $(UNIT_CFLAGS) -MMD -MP -o $@ $< $(UNIT_OBJS) $(UNIT_LIBS)

-include $(wildcard build/unit/*.d build/unit/obj/*/*.d build/unit/obj/*/*/*.d)


# Fuzzers: the core's parsers, one program for each t/fuzz/*.c.  "make test"
# runs each over the corpus that is kept and for a few seconds more, always the
# same; "make fuzz" for as long as it is told, and goes on from what it found
# before.  "make fuzz-keep" adds to the corpus what reached new code.
# An empty string has no data, and NULL + 0 is what clang takes for an overflow.

FUZZ_CC      = clang
FUZZ_SAN     = -fsanitize=address,undefined -fno-sanitize-recover=all \
               -fno-sanitize=pointer-overflow
FUZZ_CFLAGS  = -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -g -O1 \
               -fno-omit-frame-pointer $(FUZZ_SAN) $(CORE_DIRS:%=-I%) \
               -It/fuzz
FUZZ_SECONDS = 60
FUZZ         =

FUZZ_OBJS    = $(patsubst src/%.c,build/fuzz/obj/%.o, \
                          $(wildcard $(CORE_DIRS:%=%/*.c)))
FUZZ_TESTS   = t/fuzz/core.t
FUZZERS      = $(patsubst t/fuzz/%.c,build/fuzz/%,$(wildcard t/fuzz/*.c))

.PHONY: fuzzers fuzz fuzz-keep
.SECONDARY: $(FUZZ_OBJS)

fuzzers: $(FUZZERS)
	@:

build/fuzz/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	@$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

build/fuzz/%: t/fuzz/%.c $(FUZZ_OBJS) Makefile
	@$(if $(V),,echo "  CC $<" &&) $(FUZZ_CC) $(FUZZ_CFLAGS) \
	    -fsanitize=fuzzer -MMD -MP -o $@ $< $(FUZZ_OBJS) -lyajl

-include $(wildcard build/fuzz/*.d build/fuzz/obj/*/*/*.d)

BUILD_FUZZ = $(MAKE) --no-print-directory -j$(JOBS) fuzzers

fuzz: deps-test
	@$(BUILD_FUZZ)
	@FUZZ="$(FUZZ)" FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    $(PROVE) $(PROVE_FLAGS) -v $(FUZZ_TESTS)

fuzz-keep: deps-test
	@$(BUILD_FUZZ)
	@for f in $(or $(FUZZ),$(notdir $(FUZZERS))); do \
	    build/fuzz/$$f -set_cover_merge=1 -use_counters=0 -max_len=512 \
	        t/fuzz/corpus/$$f build/fuzz/new/$$f > build/fuzz/$$f.log 2>&1 \
	    || { tail -n 20 build/fuzz/$$f.log; exit 1; }; \
	    echo "$$f: $$(ls t/fuzz/corpus/$$f | wc -l) inputs"; \
	done


# Tests

DIST_PROVE = $(PROVE) -n $(NGINX_BIN) -m $(CURDIR)/$(SO) $(PROVE_FLAGS) \
             -j$(TEST_JOBS)

ON_SQLITE   = SUBMISSION_TEST_STORE=sqlite
ON_POSTGRES = t/tools/postgres.sh run

BUILD_UNIT = $(MAKE) --no-print-directory -j$(JOBS) unit-tests

test: deps-test deps-browser deps-source build newest axe webhooks-js
	@t/tools/lint.sh
	@$(BUILD_UNIT)
	@$(BUILD_FUZZ)
	@echo "on SQLite:"
	@$(ON_SQLITE) $(DIST_PROVE) $(or $(TESTS),$(UNIT_TESTS) $(FUZZ_TESTS) \
	                                          $(SUITES) $(BROWSER_TESTS))
	@echo "on PostgreSQL:"
	@$(ON_POSTGRES) $(DIST_PROVE) $(STORE_TESTS)
	$(if $(filter yes,$(ASAN)),@$(MAKE) --no-print-directory asan)

lint: deps-test
	@t/tools/lint.sh

newest: deps-source
	@t/tools/suite-nginx.sh $(NGINX_NEWEST) || { test $$? = 3 \
	    && echo "the module is not compiled for the newest nginx"; }

# any server, named by the connection string of a login that may make
# databases; on SQL Server, by "Driver=FreeTDS;...;TDS_Version=7.4", the suites;
# on Babelfish the unit tests, too, with its port of PostgreSQL in
# SUBMISSION_TEST_SQL

test-store: deps-test build
	@test -n "$$SUBMISSION_TEST_STORE" \
	    || { echo 'SUBMISSION_TEST_STORE="Driver=...;..." was expected'; \
	         exit 1; }
	@case "$$SUBMISSION_TEST_STORE" in \
	    *FreeTDS*) t/tools/deps.sh $(DEPS_FREETDS) ;; esac
	@$(BUILD_UNIT)
	@$(DIST_PROVE) $(STORE_TESTS)

test-postgres: deps-test build
	@$(BUILD_UNIT)
	@$(ON_POSTGRES) $(DIST_PROVE) $(STORE_TESTS)

test-unit: deps-test
	@$(BUILD_UNIT)
	@$(PROVE) $(PROVE_FLAGS) $(UNIT_TESTS)

install-sql:
	@sql/install.sh $(STORE) $(ARGS)


test-api: deps-test build
	@$(DIST_PROVE) $(or $(TESTS),$(API_TESTS))

test-cluster: deps-test build webhooks-js
	@$(DIST_PROVE) $(or $(TESTS),$(CLUSTER_TESTS))

# the console, in Chromium; with axe-core where npm can get it

AXE = 4.10.3

axe:
	@grep -qsF 'axe v$(AXE)' build/axe/axe.min.js || { \
	    mkdir -p build/axe && cd build/axe \
	    && npm pack --silent axe-core@$(AXE) > /dev/null 2>&1 \
	    && tar xzf axe-core-$(AXE).tgz --strip-components=1 \
	           package/axe.min.js; } \
	|| echo "axe-core cannot be had here, and is left out"

# the public library that webhooks are verified with, likewise

WEBHOOKS_JS = 1.1.1

webhooks-js:
	@grep -qsF '"version": "$(WEBHOOKS_JS)"' \
	    build/webhooks/node_modules/standardwebhooks/package.json \
	|| npm install --prefix build/webhooks --no-audit --no-fund \
	       --ignore-scripts --loglevel error \
	       standardwebhooks@$(WEBHOOKS_JS) > /dev/null 2>&1 \
	|| echo "standardwebhooks cannot be had here, and is left out"

test-browser: deps-browser build axe
	@$(DIST_PROVE) $(or $(TESTS),$(BROWSER_TESTS))


# The same suites on an nginx built from Debian's source, with sanitizers or for
# valgrind, and on the nginx of other Debian releases.  "make test" compiles for
# the newest of them, where the archive can be reached.

NGINX_VERSIONS = trixie sid
NGINX_NEWEST   = sid

asan: deps-source
	@t/tools/build-nginx.sh host asan
	@$(PROVE) -n $(CURDIR)/build/nginx/host-asan/nginx -c asan \
	          $(PROVE_FLAGS) $(SUITES)

fuzz-http: deps-source
	@t/tools/build-nginx.sh host asan
	@FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    $(PROVE) -n $(CURDIR)/build/nginx/host-asan/nginx -c asan \
	             $(PROVE_FLAGS) -v t/fuzz/http.t

test-valgrind: deps-valgrind
	@t/tools/build-nginx.sh host palloc
	@$(PROVE) -n $(CURDIR)/build/nginx/host-palloc/nginx -c valgrind \
	          $(PROVE_FLAGS) $(or $(TESTS),$(API_TESTS))

test-nginx-versions: $(NGINX_VERSIONS:%=test-nginx-%)

test-nginx-%: deps-source
	@t/tools/suite-nginx.sh $*
	@$(PROVE) -n $(CURDIR)/build/nginx/$*/nginx \
	          -m $(CURDIR)/build/nginx/$*/$(MODULE).so \
	          $(PROVE_FLAGS) $(or $(TESTS),$(API_TESTS))


# The guarantees, broken one by one: t/tools/mutants.list

MUTANTS =

mutants: deps-test
	@NGINX_BIN=$(NGINX_BIN) t/tools/mutants.sh $(if $(MUTANTS),"$(MUTANTS)")


# The lease protocol, checked by spin

model: deps-model
	@prove --timer -e bash t/model/check.sh


bench: deps-bench build
	@bench/intake
	@bench/bulk
	@bench/bytes
	@bench/executor
	@bench/latency
	@bench/rebuild
	@bench/failover
	@bench/retention
	@ROUNDS=5 EACH=5000 bench/day
	@bench/jobs
	@BENCH_STORE=postgres bench/intake
	@BENCH_STORE=postgres bench/bytes
	@BENCH_STORE=postgres bench/executor
