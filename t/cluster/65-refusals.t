# A database server that answers, and refuses: no schema, a schema of another
# version, a login that is refused, a right that is missing, no connection left,
# a full disk.  Each time requests are answered 503: at once where the server says
# what it is, in their time where the driver only says that there was no
# connection; nobody leads; the log says why, and the password is not in it;
# /readyz says what is down; and all is well by itself when that is mended,
# without a reload.
#
# Goes red when: such an error is tried again for as long as a request has time;
# the breaker keeps readers out of a database that is full; a new login is not
# tried after a refusal.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant SOON => 10;

my $server = SubmissionCluster::Server->start;
my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $store = $cluster->store;
my $proxy = $server->proxy($cluster);

use constant { RETRY => 5, ONCE => 3 };

$server->options('login_timeout=2s retry=' . RETRY . 's');

my ($instance) = $lease->instances(['a'], store_timeout => '2s',
    manager => 'lease_duration 5s; renew_interval 500ms; '
               . 'acquire_interval 1s;');

# nothing asks the store there but requests, and the probe

my $quiet = $cluster->instance('quiet', workers => 1, store_timeout => '2s',
                               manager => 'acquire_interval 1s;');

$cluster->start;

my ($dbh, $admin) = @$store{qw(dbh admin)};


sub trouble {
    my ($name, %do) = @_;

    $lease->wait_leader;
    is(post_intent($instance, intent_id('before'))->{status}, 200,
       "$name: before");

    my $lines = $instance->log_count(qr/store_down/);

    $do{begin}->();

    # what is open is not looked at anew
    $proxy->reset if !$do{keep};

    wait_for('it is noticed', sub {
        $instance->log_count($do{log}) > 0
        && $lease->readyz($instance)->{mode} eq 'follower';
    });

    my (%statuses, $slowest);

    for my $i (1 .. 5) {
        my $answer = post_intent($instance, intent_id('in'));

        $statuses{$answer->{status}}++;
        $slowest = $answer->{seconds}
            if !defined $slowest || $answer->{seconds} > $slowest;

        $do{meanwhile}->() if $do{meanwhile};
    }

    is_deeply(\%statuses, { 503 => 5 }, "$name: POSTs are answered 503");
    cmp_ok($slowest, '<', ($do{retried} ? RETRY + ONCE : ONCE) * slow(),
           sprintf '%s: within %.2f s', $name, $slowest);

    my $word = $do{readyz} // 'down';

    wait_for("/readyz says $word", sub {
        my $readyz = $lease->readyz($instance);

        $readyz->{store} eq $word && $readyz->{status} == 503;
    });

    my $ended = time;

    $do{end}->();

    wait_for('intents are taken again', sub {
        post_intent($instance, intent_id('after'))->{status} == 200;
    });

    $lease->wait_leader;

    cmp_ok(time - $ended, '<', SOON * slow(),
           sprintf '%s: all is well %.1f s after it is mended', $name,
                   time - $ended);
}


trouble('schema missing', readyz => 'schema_mismatch',
        log => qr{submission_?\w*\\?"? does not exist},
        begin => sub { $dbh->do('ALTER SCHEMA submission RENAME TO elsewhere') },
        end => sub { $dbh->do('ALTER SCHEMA elsewhere RENAME TO submission') });


trouble('another version', readyz => 'schema_mismatch',
        log => qr/schema version is 3, and needs a module of version 3 or later/,
        begin => sub { $store->set_version(3) },
        end => sub { $store->set_version(1) });


# to the driver these are all one, and may pass: they are tried again

trouble('login refused', retried => 1, log => qr/password authentication failed/,
        begin => sub {
            $admin->do("ALTER ROLE submission_test PASSWORD 'another'");
        },
        end => sub {
            $admin->do("ALTER ROLE submission_test PASSWORD '"
                       . SubmissionStore::Postgres->PASSWORD . "'");
        });


trouble('no right to log in', retried => 1, log => qr/not permitted to log in/,
        begin => sub { $admin->do('ALTER ROLE submission_test NOLOGIN') },
        end => sub { $admin->do('ALTER ROLE submission_test LOGIN') });


trouble('no right to execute', log => qr/permission denied/,
        begin => sub {
            $dbh->do('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA submission '
                     . 'FROM ' . $store->role('nginx'));
        },
        end => sub {
            $dbh->do('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA submission '
                     . 'TO ' . $store->role('nginx'));
        });


trouble('no connection left', retried => 1, log => qr/too many connections/,
        begin => sub {
            $admin->do('ALTER ROLE submission_test CONNECTION LIMIT 0');
        },
        end => sub {
            $admin->do('ALTER ROLE submission_test CONNECTION LIMIT -1');
        });


# a full disk can be read from: GETs are answered all the time

{
    is(post_intent($instance, 'there')->{status}, 200, 'full: an intent');

    my (%gets, %quiet);

    trouble('full', keep => 1, readyz => 'failing', log => qr/No space left.*53100/,
            begin => sub { $store->fill },
            meanwhile => sub {
                $gets{fetch($instance, 'GET', '/v1/intents/there')->{status}}++;
                return if %quiet;

                my $end = time + RETRY + 2;

                while (time < $end) {
                    $quiet{post_intent($quiet, intent_id('q'))->{status}}++;
                }

                is($quiet->metric('store_breaker_open'), 0,
                   'full: nor where nothing else is asked');
                is(fetch($quiet, 'GET', '/v1/intents/there')->{status}, 200,
                   'full: there, too, it can be read');
            },
            end => sub { $store->make_room });

    is_deeply(\%gets, { 200 => 5 }, 'full: what is there can be read');
    is_deeply([keys %quiet], [503], 'full: and not be written');
    is($instance->metric('store_breaker_open'), 0,
       'full: no breaker for that');
}


is($instance->log_count(qr/\Q${\ SubmissionStore::Postgres->PASSWORD}\E/), 0,
   'the password is not in the log');

$lease->{recorded} = 0;
$cluster->done;
