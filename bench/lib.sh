# shellcheck shell=bash disable=SC2119,SC2120

# What the measurements of the executor share: a gateway, instances of nginx
# and a backlog. A script sets "dir", and calls bench_init before anything else.

nginx=${NGINX_BIN:-/usr/sbin/nginx}
port=${BENCH_PORT:-18080}
gateway_port=$((port + 1))

. bench/store.sh

bench_init() {
    rm -rf "$dir"
    mkdir -p "$dir/tmp"

    pids=()
    gateway_pid=

    trap bench_stop EXIT
    trap 'exit 1' INT TERM

    bench_compile gateway
    store_init
}

bench_compile() {
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "build/bench/$1" "bench/$1.c"
}

# what is left at the end, whatever has happened

bench_stop() {
    local pid

    for pid in "${pids[@]}"; do
        kill -QUIT "$pid" 2> /dev/null || continue
        gone "$pid" 100 || kill_tree "$pid"
    done

    gateway_stop
    store_done
}

die() {
    echo "$*" >&2
    exit 1
}

gone() {
    local i

    for ((i = 0; i < $2; i++)); do
        kill -0 "$1" 2> /dev/null || return 0
        sleep 0.1
    done

    return 1
}

children() {
    cat "/proc/$1/task/$1/children" 2> /dev/null
}

# the master first, or it makes new workers

kill_tree() {
    # shellcheck disable=SC2046  # several processes
    kill -KILL "$1" $(children "$1") 2> /dev/null || true
}


# gateway <milliseconds>

gateway_start() {
    gateway_log=$dir/gateway.log
    build/bench/gateway "$gateway_port" "$1" "$gateway_log" &
    gateway_pid=$!

    # another one's server on that port is not to be sent anything

    for _ in $(seq 50); do
        sleep 0.1
        kill -0 "$gateway_pid" 2> /dev/null || die "port $gateway_port is taken"
        { : > "/dev/tcp/127.0.0.1/$gateway_port"; } 2> /dev/null && return
    done

    die "the gateway did not start"
}

gateway_stop() {
    [ -n "$gateway_pid" ] || return 0
    kill -TERM "$gateway_pid" 2> /dev/null || true
    wait "$gateway_pid" 2> /dev/null || true
    gateway_pid=
}


# conf <name> <port> <what goes into submission_manager, but for the target>

conf() {
    cat > "$dir/$1.conf" << END
load_module $PWD/build/ngx_http_submission_module.so;
$([ "$(id -u)" != 0 ] || echo "user root;")
worker_processes ${WORKERS:-2};
pid       $dir/$1.pid;
error_log $dir/$1.log ${ERROR_LOG:-notice};
events { worker_connections 4096; }
thread_pool submission threads=4;
http {
    access_log off;
    client_body_temp_path $dir/tmp;
    proxy_temp_path       $dir/tmp;
    fastcgi_temp_path     $dir/tmp;
    uwsgi_temp_path       $dir/tmp;
    scgi_temp_path        $dir/tmp;
    keepalive_requests    1000000000;

    upstream gateways {
        server 127.0.0.1:$gateway_port;
        keepalive 256;
        keepalive_requests 1000000000;
    }

    submission_manager main {
        thread_pool submission;
        store       $(store_directive submission);
        $3

        target sms.realtime {
            gateway_type sms;
            gateway_url  http://gateways;
            policy       max_attempts 5;
        }
    }

    proxy_http_version 1.1;
    proxy_set_header Connection "";

    server {
        listen 127.0.0.1:$2 backlog=2048 reuseport;

        location /v1/ { submission_api main; }
        location /operate/ { submission_api main access=operate; }
        location = /readyz { submission_readyz main; }
        location = /metrics { submission_metrics main; }
        location = /_wake { submission_wake main; }

        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass \$submission_gateway_url;
        }

        # the same, for anyone

        location = /dispatch {
            set \$gateway_url http://gateways/sms/send;
            proxy_pass \$gateway_url;
        }
    }
}
END
}

# nginx_start <name> <port>; sets pid

nginx_start() {
    "$nginx" -p "$dir/" -c "$dir/$1.conf" -e "$dir/$1.log"

    for _ in $(seq 200); do
        pid=$(cat "$dir/$1.pid" 2> /dev/null) || pid=

        if [ -n "$pid" ] && curl -fsS "http://127.0.0.1:$2/readyz" \
                                 > /dev/null 2>&1
        then
            pids+=("$pid")
            return
        fi

        sleep 0.05
    done

    die "nginx did not become ready, see $dir/$1.log"
}

nginx_stop() {
    local pid

    pid=$(cat "$dir/$1.pid")
    kill -QUIT "$pid"
    gone "$pid" 300 || die "$1 does not quit"
}

# readyz <port> <key>

readyz() {
    curl -fsS "http://127.0.0.1:$1/readyz" | grep -o "$2=[^ ]*" | cut -d= -f2
}

metric() {
    curl -fsS "http://127.0.0.1:$1/metrics" \
        | awk -v name="$2" 'index($1, name) == 1 { n += $2 } END { print n + 0 }'
}


sql() {
    store_sql submission "$@"
}

# monotonic microseconds, and what is to be added to have those of the store

monotonic() {
    perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC \
        -e 'printf "%d\n", clock_gettime(CLOCK_MONOTONIC) * 1e6'
}

monotonic_offset() {
    perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC,CLOCK_REALTIME -e '
        printf "%d\n", (clock_gettime(CLOCK_REALTIME)
                        - clock_gettime(CLOCK_MONOTONIC)) * 1e6'
}

# backlog <intents> [<retries>]: a database with so many that are to be tried
# now, and so many that have been tried once and are due in an hour; ids are
# those of uuidgen

backlog() {
    store_new submission

    if [ "$BENCH_STORE" = sqlite ]; then
        sql << END
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -262144;
.read sql/sqlite/schema.sql
BEGIN;
$(backlog_sql "$1" "${2:-0}" "CAST(unixepoch() AS INTEGER) * 1000000" \
              "lower(hex(randomblob(16)))" \
              "lower(hex(randomblob(32)))" "" "" "AS BLOB")
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
END
        return
    fi

    # the views of t/unit/store_mssql.sql: times are microseconds, payloads text

    if [ -n "$store_tds" ]; then
        sql << END
$(backlog_sql "$1" "${2:-0}" \
              "(extract(epoch FROM date_trunc('second', now())) * 1000000)::bigint" \
              "replace(gen_random_uuid()::text, '-', '')" \
              "md5(n::text) || md5(id)" "" "::int" "AS text")
VACUUM ANALYZE "bench_submission_submission".submission_intents;
CHECKPOINT;
END
        return
    fi

    # with statistics, as a server has of a table that was not made just now

    sql << END
SET search_path = submission;
$(backlog_sql "$1" "${2:-0}" "submission_us(date_trunc('second', now()))" \
              "replace(gen_random_uuid()::text, '-', '')" \
              "md5(n::text) || md5(id)" "submission_at" "::int" "AS bytea")
VACUUM ANALYZE submission_intents;
CHECKPOINT;
END
}

# the dialect: now, 16 and 32 random bytes in hex, what makes a time and a number
# of a truth, and the type of a payload

backlog_sql() {
    cat << END
WITH RECURSIVE
now (at) AS (SELECT $3),
series (n) AS (
    SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < $1 + $2
),
intent (n, id, at) AS (
    SELECT n, $4,
           (SELECT at FROM now) - ($1 + $2 - n) * 100 - 60000000
    FROM series
)
INSERT INTO submission_intents (
    lease_name, intent_id, payload_hash, payload, submission_target,
    gateway_type, gateway_url, policy, max_acceptance_seconds, max_attempts,
    terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
    retry_jitter_pct, status, attempt_count, created_at, last_modified_at,
    next_attempt_at
)
SELECT 'submission-manager-executor',
       substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-' || substr(id, 13, 4)
       || '-' || substr(id, 17, 4) || '-' || substr(id, 21),
       $5,
       CAST('{"to":"+15550100","message":"Your code is 123456"}' $8),
       ${backlog_target:-'sms.realtime'}, 'sms', 'http://gateways',
       'max_attempts', NULL, 5, '',
       5000, 5000, 100, 0, 'pending', (n <= $2)$7, $6(at), $6(at),
       $6(CASE WHEN n <= $2 THEN at + 3600000000 ELSE at END)
FROM intent;
END
}

percent() {
    echo $(($1 * 100 / $2))
}

times() {
    echo $(($1 / $2)).$(($1 * 10 / $2 % 10))
}

# ms <microseconds>

ms() {
    printf '%d.%d' $(($1 / 1000)) $(($1 / 100 % 10))
}
