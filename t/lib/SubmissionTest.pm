package SubmissionTest;

# What the suites share, on top of Test::Nginx::Socket. Each block gets
#
#   - a submission_manager "main" on the store that SUBMISSION_TEST_STORE names,
#     with three targets; "--- manager" adds directives to it. A block that has
#     a submission_manager in its own "--- http_config" gets none.
#   - "executor off" in that block and any other, so that nobody leads and
#     intents stay as they were posted; unless it says of "executor" what it
#     wants, or the suite has called leads()
#   - location /v1/ with the API, = /readyz, = /metrics and = /_dispatch, each
#     unless the block's own "--- config" has that directive for "main";
#     "--- api" adds directives to /v1/
#   - an empty store: store() is the test's way to it, sql() a short one
#   - a check, when nginx has quit, that it did so in time, and that the error
#     log has no [alert], [crit] or [emerg]
#
# More sections:
#
#   --- block
#       all directives of submission_manager "main" but a target "t"
#   --- hasty
#       a call to the store of "main" has a second, and no more
#   --- other
#       directives of a submission_manager "other" with a target "t", beside
#       "main": /other/ is its API, = /readyz_other and = /metrics_other
#   --- bare
#       nothing of the module but what the block has itself
#   --- registry
#       the contents of conf/targets.json
#   --- client eval
#       a sub to run against the server after the block's requests
#   --- only: <kind> <reason>
#       the block says something of this kind of store alone; "escapes" and
#       "last_time" are those that can do what SubmissionStore.pm says of them
#   --- not_api: <reason>
#       what is answered under /v1/ is not the API's, or not of its own data:
#       docs/reference/openapi.yaml does not describe it
#
# In a block's configuration $TEST_NGINX_STORE is the store's directive.
#
# A block without requests asks for the list of intents.

use strict;
use warnings;

use Exporter 'import';
use File::Path qw(remove_tree);
use IO::Socket::INET;
use JSON::PP;
use Test::Base::Filter;
use Test::More ();
use Test::Nginx::Socket;
use Time::HiRes qw(sleep time);

use SubmissionAnswers qw(requests record);
use SubmissionPace qw(busy);
use SubmissionPorts qw(free_port);
use SubmissionStore;

our @EXPORT = qw(
    submit intent problem leads
    http http_raw http_pipelined http_open http_read http_rest
    wait_for slow error_log open_files sql store hold_writes promtool
);

# "eval" of a section sees the names of the test file, and not those of the
# filters; and a mistake in it is not a value

{
    no warnings 'redefine';

    *Test::Base::Filter::eval = sub {
        my ($filter, $text) = @_;

        my @values = eval "package main; no strict; $text";
        bail_out("cannot evaluate a section: $@\n$text") if $@;

        return @values;
    };
}


# Ports that no other test takes, and no client gets from the kernel, while nobody
# listens on them between two blocks.

if (!$ENV{TEST_NGINX_PORT}) {
    my $port = free_port();

    server_port($port);
    Test::Nginx::Util::server_port_for_client($port);
}

{
    no warnings qw(prototype redefine);

    *Test::Nginx::Util::gen_rand_port = sub (;$$$) { return free_port() };
}


# Answers to Test::Nginx's own requests are written down, as those of the
# clients below: its functions are called by name.

{
    no warnings qw(prototype redefine);

    my $send = \&Test::Nginx::Socket::send_request;
    my $check = \&Test::Nginx::Socket::check_error_code;
    my @sent;

    *Test::Nginx::Socket::send_request = sub ($$$$@) {
        my ($request, undef, undef, $block) = @_;

        SubmissionAnswers::ignore(defined $block->not_api);

        @sent = requests(ref $request ? join '', map { $_->{value} } @$request
                                      : $request);
        goto &$send;
    };

    *Test::Nginx::Socket::check_error_code = sub ($$$$$) {
        my ($block, $answer, $dry_run) = @_;

        record_response(shift @sent, $answer) unless $dry_run;
        goto &$check;
    };
}


# an answer of Test::Nginx

sub record_response {
    my ($request, $answer) = @_;

    record($request, $answer->code,
           { map { lc $_ => scalar $answer->header($_) }
                 $answer->header_field_names },
           $answer->content);
}


# a store for the suite, empty for each block

my $store = SubmissionStore->new(server_root() . '/data',
                                 path => 'data/submission.db',
                                 password_file => server_root() . ".pw$$");
my $owner = $$;

END {
    my $status = $?;
    $store->cleanup if $store && $$ == $owner;
    $? = $status;
}

$ENV{TEST_NGINX_STORE} = $store->directive;
$ENV{TEST_NGINX_STORE_HASTY} = $store->directive(timeout => '1s');

sub store { return $store }


master_on();
log_level('info');
no_long_string();
no_root_location();
worker_connections(256);

# nginx is listening when its first process exits: there is little to wait for

$Test::Nginx::Util::TestNginxSleep = 0.004 unless $ENV{TEST_NGINX_SLEEP};

my $manager = <<'EOC';
    submission_manager main {
        store        $TEST_NGINX_STORE;
        thread_pool  submission;

%s
        target sms.realtime {
            gateway_type       sms;
            gateway_url        http://127.0.0.1:1;
            policy             deadline 5m;
            terminal_outcomes  invalid_request invalid_recipient;
        }

        target push.bulk {
            gateway_type       push;
            gateway_url        http://127.0.0.1:1;
            policy             max_attempts 3;
        }

        target http.once {
            gateway_type       http;
            gateway_url        http://127.0.0.1:1/hook;
            policy             one_shot;
        }
    }
EOC

my $manager_block = <<'EOC';
    submission_manager %s {%s
%s
        target t {
            gateway_type  http;
            gateway_url   http://127.0.0.1:1;
            policy        one_shot;
        }
    }
EOC

my $other_locations = <<'EOC';
        location /other/          { submission_api other; }
        location = /readyz_other  { submission_readyz other; }
        location = /metrics_other { submission_metrics other; }

        location = /_dispatch_other {
            internal;
            submission_dispatch other;
            proxy_pass $submission_gateway_url;
        }
EOC

my %location = (
    submission_api => <<'EOC',
        location /v1/ {
            submission_api main;
%s
        }
EOC
    submission_readyz => <<'EOC',
        location = /readyz {
            submission_readyz main;
        }
EOC
    submission_metrics => <<'EOC',
        location = /metrics {
            submission_metrics main;
        }
EOC
    submission_dispatch => <<'EOC',
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
        }
EOC
);


# the instances of a suite have executors

my $leads = 0;

sub leads {
    $leads = 1;
}


sub value {
    my ($block, $section) = @_;

    my $value = $block->$section;

    return defined $value ? $value : '';
}


# nginx warns of a manager without a store: only an empty block has none

sub store_line {
    my ($lines) = @_;

    return $lines =~ /\S/ && $lines !~ /^\s*store\s/m
           ? ' store sqlite data/submission.db;' : '';
}


add_block_preprocessor(sub {
    my $block = shift;

    if (defined $block->only) {
        my ($kind, $reason) = $block->only =~ /^(\S+)\s+(.*?)\s*\z/;

        if ($kind =~ /^(?:escapes|last_time)\z/ ? !$store->$kind
                                               : $kind ne $store->kind)
        {
            SKIP: { Test::More::skip($block->name . " - $reason", 1) }
            $block->set_value('SKIP', '');
            return;
        }
    }

    my $http = value($block, 'http_config');
    my $config = value($block, 'config');
    my $bare = defined $block->bare;

    if (defined $block->block) {
        $http .= sprintf $manager_block, 'main', store_line($block->block),
                         $block->block;

    } elsif ($http !~ /\bsubmission_manager\b/ && !$bare) {
        $http .= sprintf $manager, value($block, 'manager');
    }

    if (defined $block->other) {
        $http .= sprintf $manager_block, 'other', store_line($block->other),
                         $block->other;
        $config .= $other_locations;
    }

    $http =~ s/(\$TEST_NGINX_STORE)\b/${1}_HASTY/ if defined $block->hasty;

    # within the line: others have their numbers

    $http =~ s/(\bsubmission_manager\s+\S+\s*\{)/$1 executor off;/g
        unless $leads || $http =~ /(?:^|[;{])\s*executor\s/m;

    for my $directive (sort keys %location) {
        next if $bare || $config =~ /\b$directive\s+main\b/;

        (my $text = $location{$directive}) =~ s/%s\n/value($block, 'api')/e;
        $config .= $text;
    }

    # Test::Nginx listens on all addresses: nginx would warn

    for ($http, $config) {
        s/(access=operate\b[^;]*;)/$1 allow all;/g
            unless /\b(?:allow|deny|auth_\w+|limit_except)\b/;
    }

    $block->set_value('main_config', "thread_pool submission threads=4;\n"
                                     . value($block, 'main_config'));
    $block->set_value('http_config', $http);
    $block->set_value('config', $config);

    if (defined $block->registry) {
        my $files = $block->user_files || [];

        $block->set_value('user_files',
                          [@$files, [server_root() . '/conf/targets.json',
                                     $block->registry]]);
    }

    if (!$bare && !defined $block->request && !defined $block->raw_request
        && !defined $block->pipelined_requests)
    {
        $block->set_value('request', "GET /v1/intents\n");
    }
});


sub slurp {
    my $file = shift;

    open my $in, '<', $file or return '';
    local $/;
    return scalar <$in>;
}


sub error_log {
    return slurp(server_root() . '/logs/error.log');
}


# those that nginx has open and whose name has these words

sub open_files {
    my $words = shift;

    my ($master) = slurp(server_root() . '/logs/nginx.pid') =~ /^(\d+)/;
    my @processes = grep { slurp("$_/stat") =~ /\) \S $master / }
                    glob '/proc/[0-9]*';

    return grep { /\Q$words\E/ }
           map { my $name = readlink; defined $name ? $name : () }
           map { glob "$_/fd/*" } "/proc/$master", @processes;
}


# a zombie, where nobody reaps it, is not

sub running {
    my $pid = shift;

    return kill(0 => $pid) && slurp("/proc/$pid/stat") !~ /\) Z /;
}


sub stop_nginx {
    my $block = shift;

    my ($pid) = slurp(server_root() . '/logs/nginx.pid') =~ /^(\d+)/;
    my $quit = 1;           # without a pid file: it has, by the test itself

    if ($pid) {
        kill QUIT => $pid;
        $quit = wait_for(sub { !running($pid) }, 10 + timeout());
        kill KILL => $pid unless $quit;
    }

    Test::More::ok($quit, $block->name . ' - nginx quits');
}


add_test_cleanup_handler(sub {
    my $block = shift;

    return if defined $block->SKIP;

    if (defined $block->client) {
        ref $block->client eq 'CODE'
            or bail_out($block->name . ' - client: ' . $block->client);

        eval { $block->client->($block); 1 }
            or Test::More::fail($block->name . " - client: $@");
    }

    stop_nginx($block);

    my @bad = grep { /\[(?:alert|crit|emerg)\]/ } split /\n/, error_log();

    Test::More::is(join("\n", @bad), '', $block->name . ' - quiet log');

    $store->empty;
    remove_tree(glob server_root() . '/data*');
});


# requests and answers


# a request for Test::Nginx; strings are bytes, the payload is JSON as it is

sub submit {
    my ($id, $target, $payload) = @_;

    return sprintf "POST /v1/intents\n{\"intentId\":\"%s\","
                   . "\"submissionTarget\":\"%s\"%s}",
                   $id, $target || 'sms.realtime',
                   defined $payload ? ",\"payload\":$payload" : '';
}


# what a pending intent looks like

my $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

sub intent {
    my ($id, $target) = @_;

    my $start = sprintf '{"intentId":"%s","submissionTarget":"%s","createdAt":',
                        $id, $target || 'sms.realtime';

    return qr/^\Q$start\E($time),"status":"pending","attemptCount":0,"nextAttemptAt":\1\}\n\z/;
}


# an error; the details are JSON as it is

sub problem {
    my ($code, $message, $details) = @_;

    $message =~ s/(["\\])/\\$1/g;

    return sprintf "{\"error\":{\"code\":\"%s\",\"message\":\"%s\","
                   . "\"details\":{%s}}}\n",
                   $code, $message, defined $details ? $details : '';
}


# for "--- client"


# how many times slower things may be: under a checker, here and now

sub slow { return busy() * (timeout() > 5 ? 4 : 1) }


# until the condition holds; false if it does not within the time

sub wait_for {
    my ($condition, $seconds) = @_;

    my $deadline = time + ($seconds || 5 + timeout()) * busy();

    until ($condition->()) {
        return 0 if time > $deadline;
        sleep 0.01;
    }

    return 1;
}


sub http_open {
    my ($raw, $port, $address) = @_;

    my $sock = IO::Socket::INET->new(PeerAddr => $address || '127.0.0.1',
                                     PeerPort => $port || server_port())
        or die "cannot connect: $!\n";

    local $SIG{PIPE} = 'IGNORE';

    $sock->autoflush(1);
    print $sock $raw;

    ${*$sock}{submission_requests} = [requests($raw)];

    return $sock;
}


# the next answer on a connection

sub http_read {
    my $sock = shift;

    my %answer = (headers => {}, body => '');

    local $SIG{ALRM} = sub { die "no answer in time\n" };
    alarm 20 + timeout();

    my $line = <$sock>;
    defined $line or die "closed without an answer\n";

    $line =~ m{^HTTP/1\.1 (\d+)} or die "not an answer: $line\n";
    $answer{code} = $1;

    while (defined($line = <$sock>) && $line =~ /^([^:]+):\s*(.*?)\r\n/) {
        $answer{headers}{lc $1} = $2;
    }

    if ($answer{headers}{'content-length'}) {
        read $sock, $answer{body}, $answer{headers}{'content-length'};
    }

    alarm 0;

    # an answer to HEAD is read by others: there is no body to wait for

    my ($request, @left) = grep { $_->[0] ne 'HEAD' }
                           @{${*$sock}{submission_requests}};

    ${*$sock}{submission_requests} = \@left;

    record($request, @answer{qw(code headers body)})
        if defined $answer{headers}{'content-length'};

    $answer{json} = eval { JSON::PP->new->utf8->decode($answer{body}) };

    return \%answer;
}


# all that comes until the connection is closed

sub http_rest {
    my $sock = shift;

    local $SIG{ALRM} = sub { die "not closed in time\n" };
    alarm 20 + timeout();

    my $text = join '', <$sock>;

    alarm 0;

    return $text;
}


sub raw {
    my ($request, @headers) = @_;

    my ($line, $body) = split /\n/, $request, 2;

    push @headers, 'Host: localhost' unless grep { /^Host:/i } @headers;
    push @headers, 'Content-Length: ' . length $body
        if defined $body && length $body && "@headers" !~ /Content-Length/i;

    return join "\r\n", "$line HTTP/1.1", @headers, '',
                defined $body ? $body : '';
}


sub http_raw {
    return http_read(http_open(@_));
}


# a request as Test::Nginx writes them, on a connection of its own

sub http {
    return http_raw(raw(@_, 'Connection: close'));
}


# many on one connection, sent without waiting

sub http_pipelined {
    my @requests = @_;

    my @answers;
    my $sock = http_open('');

    # a part at a time: both sides would block, once all buffers are full

    while (my @part = splice @requests, 0, 100) {
        my $bytes = join '', map { raw($_) } @part;

        push @{${*$sock}{submission_requests}}, requests($bytes);
        print $sock $bytes;
        push @answers, map { http_read($sock) } @part;
    }

    return @answers;
}


# rows of a statement, beside the module: "a|b" on lines

sub sql {
    return join "\n", map { join '|', @$_ } $store->query($_[0]);
}


# what promtool has to say of metrics: nothing

sub promtool {
    my $text = shift;

    chomp(my $promtool = `t/tools/get-prometheus.sh "\$PWD/build/prometheus" promtool`);

    my $file = server_root() . '/metrics.txt';

    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out;

    my $output = `'$promtool' check metrics < '$file' 2>&1`;

    unlink $file;

    return $? == 0 ? $output : "failed, $output";
}


# nobody writes to the store until what this returns is called

sub hold_writes {
    my $lock = $store->lock;

    return sub { $store->unlock($lock) };
}


1;
