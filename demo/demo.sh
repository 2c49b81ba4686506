#!/bin/bash

# demo.sh start|cluster|kill-leader|stop
#
# start: starts the demo nginx in the background, or restarts the running one
# if its configuration or the module changed, and waits until it is ready.
# The ports are PORT and GATEWAY_PORT.  As long as it runs, a few intents a second
# are posted to it, unless DEMO_TRAFFIC is "off".  DEMO_MOODY says when the gateway
# of sms.moody is ill: a regular expression of times, as "map" takes it.
#
# cluster: likewise with two instances on one store, at PORT + 1 and PORT + 2, and
# HAProxy before them, at PORT.  kill-leader kills the one that leads, with all of
# its processes; "cluster" starts it again.

set -eu

port=${PORT:-8080}
gateway_port=${GATEWAY_PORT:-9090}
traffic=${DEMO_TRAFFIC:-on}
moody=${DEMO_MOODY:-"~:[0-5][05]:"}
nginx=${NGINX_BIN:-/usr/sbin/nginx}

demo=$(cd "$(dirname "$0")" && pwd)
log=$demo/logs/error.log


say() {
    echo "demo: $*"
}

fail() {
    say "$@" >&2
    exit 1
}

fail_with_log() {
    say "$@" >&2

    if [ -s "$log" ]; then
        echo "the end of $log:" >&2
        tail -n 5 "$log" >&2
    fi

    exit 1
}

# the condition, for at most so many tenths of a second

wait_until() {
    local n=$1
    shift

    until "$@"; do
        [ $((n -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}

# Sets pid to that of the process, "nginx" unless it is named.  A pid file can
# outlive its process, and the number be another's by now.

running() {
    pid=$(cat "$demo/run/${1:-nginx}.pid" 2> /dev/null) && [ -n "$pid" ] \
    && grep -qsaF "$demo/" "/proc/$pid/cmdline"
}

stopped() {
    ! running "$@"
}

listening() {
    (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}


# ready [<port>] [<name>]: or it has exited

ready() {
    [ "$(curl -s -o /dev/null -w '%{http_code}' -m 2 \
              "http://127.0.0.1:${1:-$port}/readyz")" = 200 ] \
    || stopped "${2:-nginx}"
}


# attend <name>: as long as that runs, it gets traffic, and its logs stay small

attend() {
    local start n=0
    start=$(date +%d%H%M%S)

    while running "$1"; do
        n=$((n + 1))
        [ "$traffic" = off ] || post "$start" "$n"
        [ $((n % 10)) != 0 ] || rotate
        sleep 0.6
    done
}

# what a few applications would post: most of it goes well, and a few numbers are wrong

post() {
    local lines

    lines=$(line sms.realtime "order-$1-$2")
    lines+=$'\n'$(line sms.realtime "code-$1-$2")
    [ $(($2 % 2)) != 0 ] || lines+=$'\n'$(line push.marketing "news-$1-$2")
    [ $(($2 % 4)) != 0 ] || lines+=$'\n'$(line sms.realtime "typo-$1-$2")
    [ $(($2 % 3)) != 0 ] || lines+=$'\n'$(line sms.moody "code-$1-m$2")

    curl -s -o /dev/null -m 2 -H 'Content-Type: application/x-ndjson' \
         --data-binary "$lines" "http://127.0.0.1:$port/v1/intents" || true
}

# what the demo writes stays small, however long it runs

rotate() {
    local file name big=

    for file in "$demo"/logs/*.log; do
        if [ "$(stat -c %s "$file")" -gt 4000000 ]; then
            mv "$file" "$file.1"
            big=1
        fi
    done

    [ -n "$big" ] || return 0

    for name in nginx a b gateway; do
        ! running "$name" || kill -USR1 "$pid"
    done
}

line() {
    printf '{"intentId":"%s","submissionTarget":"%s","payload":%s}' "$2" "$1" \
           '{"to":"+15550100","message":"Hello"}'
}

start_attendant() {
    stop_attendant
    (trap - EXIT; attend "$1") > /dev/null 2>&1 < /dev/null &
    echo $! > "$demo/run/attendant.pid"
}

# the number may be another's by now

stop_attendant() {
    local attendant

    attendant=$(cat "$demo/run/attendant.pid" 2> /dev/null) || return 0
    rm -f "$demo/run/attendant.pid"

    if grep -qsaF demo.sh "/proc/$attendant/cmdline"; then
        kill "$attendant" 2> /dev/null || true
    fi
}


# stop [<name>]

stop() {
    local name=${1:-nginx} signal=QUIT

    [ "$name" != haproxy ] || signal=TERM

    running "$name" || return 0
    kill -"$signal" "$pid"

    wait_until 150 stopped "$name" && return
    kill -TERM "$pid"

    wait_until 50 stopped "$name" || fail "$name (pid $pid) does not stop"
}

stop_cluster() {
    local name

    for name in haproxy a b gateway; do
        stop "$name"
    done
}

cluster_runs() {
    running haproxy || running gateway || running a || running b
}


# as root, workers run unprivileged, provided that they can get here

worker_user() {
    if [ "$(id -u)" != 0 ]; then
        return
    fi

    if setpriv --reuid nobody --regid nogroup --clear-groups \
               /usr/bin/test -x "$demo/run"
    then
        echo nobody nogroup
    else
        echo root root
    fi
}


# the secret with which the messages of the webhook are signed

secret() {
    [ -s "$demo/run/webhook.secret" ] || (
        umask 077
        echo "whsec_$(head -c 32 /dev/urandom | base64 -w 0)" \
            > "$demo/run/webhook.secret"
    )
}


# configure <port>: the configuration of an instance

configure() {
    local user

    user=$(worker_user)

    # the data may be from a run under another user
    [ -z "$user" ] || [ ! -d "$demo/data" ] \
        || chown -R "${user/ /:}" "$demo/data"

    echo "# made from ../nginx.conf by demo.sh"
    [ -z "$user" ] || echo "user $user;"

    sed -e "s/127\.0\.0\.1:8080/127.0.0.1:$1/" \
        -e "s/127\.0\.0\.1:9090/127.0.0.1:$gateway_port/" "$demo/nginx.conf"

    # nginx maps a module once: a new one needs a new start
    echo "# module $(cksum < "$demo/../build/ngx_http_submission_module.so")"
}


prepare() {
    mkdir -p "$demo"/{run,logs,tmp}
    secret

    sed -e "s/127\.0\.0\.1:9090/127.0.0.1:$gateway_port/" \
        -e "s/~:.*: *ill;/$moody ill;/" "$demo/gateway.conf" > "$demo/run/gateway.conf"
}

free() {
    local p

    for p; do
        ! listening "$p" \
            || fail "port $p of 127.0.0.1 is taken by another program;" \
                    "choose others: make run PORT=8081 GATEWAY_PORT=9091"
    done
}


start() {
    ! cluster_runs || fail "the cluster is running: make stop"

    prepare

    {
        configure "$port"
        sed 's/^/# /' "$demo/run/gateway.conf"
    } > "$demo/run/nginx.conf.new"

    ! runs_with nginx "$demo/run/nginx.conf" || return 0

    free "$port" "$gateway_port"

    "$nginx" -p "$demo/" -c run/nginx.conf -e logs/error.log \
        || fail_with_log "nginx did not start"

    wait_until 100 ready || fail_with_log "nginx is not ready after 10 s"
    running || fail_with_log "nginx has exited"

    say "started, pid $pid"
}


# runs_with <name> <file>: it runs, with what is in <file>.new.  One that runs with
# something else is stopped.  Otherwise <file> is what to start it with.

runs_with() {
    if running "$1"; then
        if cmp -s "$2.new" "$2"; then
            say "$1 is already running, pid $pid"
            return
        fi

        say "configuration or module of $1 changed, restarting"
        stop "$1"
    fi

    mv "$2.new" "$2"
    return 1
}


# The gateway by itself: it stays when an instance is killed.

start_gateway() {
    {
        configure "$port" | sed -n '/^user /p'
        echo "pid run/gateway.pid; error_log logs/gateway-error.log;"
        echo "events {} http { client_body_temp_path tmp/body;" \
             "proxy_temp_path tmp/proxy; fastcgi_temp_path tmp/fastcgi;" \
             "uwsgi_temp_path tmp/uwsgi; scgi_temp_path tmp/scgi;" \
             "include gateway.conf; }"
        sed 's/^/# /' "$demo/run/gateway.conf"
    } > "$demo/run/gateway-alone.conf.new"

    ! runs_with gateway "$demo/run/gateway-alone.conf" || return 0
    free "$gateway_port"

    "$nginx" -p "$demo/" -c run/gateway-alone.conf -e logs/gateway-error.log \
        || fail "the gateway did not start"
}


# start_instance <name> <port>

start_instance() {
    log=$demo/logs/$1.log

    configure "$2" | sed -e "s/run\/nginx\.pid/run\/$1.pid/" \
                         -e "s/logs\/error\.log/logs\/$1.log/" \
                         -e "s/logs\/access\.log/logs\/$1-access.log/" \
                         -e '/include gateway\.conf/d' > "$demo/run/$1.conf.new"

    ! runs_with "$1" "$demo/run/$1.conf" || return 0
    free "$2"

    "$nginx" -p "$demo/" -c "run/$1.conf" -e "logs/$1.log" \
        || fail_with_log "nginx did not start"

    wait_until 100 ready "$2" "$1" \
        || fail_with_log "instance $1 is not ready after 10 s"
    running "$1" || fail_with_log "instance $1 has exited"

    say "instance $1 started at 127.0.0.1:$2, pid $pid"
}


start_haproxy() {
    sed -e "s/^    bind :80\$/    bind 127.0.0.1:$port/" \
        -e "s/127\.0\.0\.1:8404/127.0.0.1:$((port + 4))/" \
        -e "s/server sm1 .*/server sm1 127.0.0.1:$((port + 1))/" \
        -e "s/server sm2 .*/server sm2 127.0.0.1:$((port + 2))/" \
        -e '/server sm3 /d' -e '/^    \(chroot\|user\|group\|log\) /d' \
        -e '/^    stats socket /d' -e '/^    option httplog/d' \
        "$demo/../haproxy.cfg.example" > "$demo/run/haproxy.cfg.new"

    ! runs_with haproxy "$demo/run/haproxy.cfg" || return 0
    free "$port" $((port + 4))

    haproxy -D -f "$demo/run/haproxy.cfg" -p "$demo/run/haproxy.pid" \
        || fail "haproxy did not start"
}


cluster() {
    ! running || fail "the demo is running with one instance: make stop"

    prepare
    start_gateway
    start_instance a $((port + 1))
    start_instance b $((port + 2))
    start_haproxy
}


# the port of an instance that was started, whatever PORT says by now

port_of() {
    sed -n 's/^ *listen 127\.0\.0\.1:\([0-9]*\);/\1/p' "$demo/run/$1.conf"
}


kill_leader() {
    local name

    for name in a b; do
        if running "$name" \
           && curl -s -m 2 "http://127.0.0.1:$(port_of "$name")/readyz" \
              | grep -q mode=leader
        then
            say "instance $name (pid $pid) led, and is killed with its workers"
            # shellcheck disable=SC2046
            kill -9 "$pid" $(pgrep -P "$pid")
            return
        fi
    done

    fail "no instance leads at the moment"
}


try_cluster() {
    cat << END

Console: http://127.0.0.1:$port/console/

Two instances at $((port + 1)) and $((port + 2)), HAProxy before them. Open the console, and
then kill the leader: nothing is sent until its lease ends, ten seconds at most.
Then the other one leads, and goes on with everything. No POST fails meanwhile.

  $demo/demo.sh kill-leader
  make run-cluster PORT=$port GATEWAY_PORT=$gateway_port
                          starts the killed one again

Logs: $demo/logs/a.log, b.log
Stop: make stop
END
}


try() {
    local api=http://127.0.0.1:$port/v1

    cat << END

Console: http://127.0.0.1:$port/console/

API on 127.0.0.1:$port, gateway on 127.0.0.1:$gateway_port. Try:

  curl $api/intents --json '{"intentId":"hello-1","submissionTarget":"sms.realtime","payload":{"to":"+15550100","message":"Hello"}}'
  curl $api/intents/hello-1/history

a gateway that rejects, and one that is down: three attempts within 6 seconds.
Nothing else is sent there, so the console calls them healthy until you do:

  curl $api/intents --json '{"intentId":"hello-3","submissionTarget":"sms.rejected","payload":{"to":"nobody"}}'
  curl $api/intents/hello-3/history
  curl $api/intents --json '{"intentId":"hello-4","submissionTarget":"sms.flaky","payload":{"to":"+15550100"}}'
  curl $api/intents/hello-4/history

and

  curl $api/intents
  curl $api/targets
  curl $api/schedules
  curl $api/cluster
  tail $demo/logs/gateway.log
  tail $demo/logs/hooks.log

The target sms.moody is ill for one minute in five, and recovers by itself.

Log: $log
Stop: make stop
END
}


case ${1:-} in

    start)
        start
        start_attendant nginx
        try
        ;;

    cluster)
        cluster
        start_attendant haproxy
        try_cluster
        ;;

    kill-leader)
        kill_leader
        ;;

    stop)
        if running || cluster_runs; then
            stop_attendant
            stop_cluster
            stop
            say "stopped"
        else
            say "not running"
        fi
        ;;

    *)
        echo "usage: $0 start|cluster|kill-leader|stop" >&2
        exit 2
        ;;

esac
