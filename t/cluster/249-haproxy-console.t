# The backend "console" of haproxy.cfg.example.  While the store is locked or gone
# no instance is ready and intents get 503, and the console is there: its files,
# and what it shows.  What an operator does is sent once: an instance that hangs
# up, or does not answer, may have done it, so no other one is asked; one that
# cannot be reached has done nothing, so another one is.
#
# Goes red when: the backend asks /readyz, like the other one; it repeats a POST
# whose instance hung up, timed out or answered 503; an instance that is down
# makes the console fail; /console/ is not let through.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;

use SubmissionNeeds qw(sqlite no_checker);
use SubmissionCluster;
use SubmissionCluster::Raw;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# a and b are instances; c is another thing, which hangs up, says nothing, or 503

my @instances = $lease->instances(['a', 'b'], store_timeout => '1s', zone => '8m',
    server => 'location /console/ { submission_console main access=operate; }');
my $what = "$cluster->{dir}/what";
my $log = "$cluster->{dir}/posts";

sub does {
    open(my $out, '>', $what) or die "$what: $!";
    print $out $_[0];
    close $out;
}

my $raw = SubmissionCluster::Raw->new(sub {
    my ($socket, $head) = @_;

    return if !defined $head;

    if ($head =~ m{^GET /readyz }) {
        syswrite($socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        return;
    }

    open(my $posts, '>>', $log) or die "$log: $!";
    syswrite($posts, (split /\r\n/, $head)[0] . "\n");

    open(my $in, '<', $what) or die "$what: $!";
    my $now = <$in>;

    sleep 30 if $now eq 'hang';
    syswrite($socket, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n") if $now eq '503';
});

does('close');

my $proxy = SubmissionCluster::HAProxy->new("$cluster->{dir}/haproxy", @instances,
                                            { port => $raw->port });

# a request that waits for nobody is to end soon; nothing else is changed

{
    no warnings 'redefine';
    my $configuration = \&SubmissionCluster::HAProxy::configuration;

    *SubmissionCluster::HAProxy::configuration = sub {
        my $text = $configuration->(@_);
        $text =~ s/^    timeout server  \K15s/2s/m or die "no time-out\n";
        return $text;
    };
}

$cluster->start;
$lease->wait_leader;
$proxy->start;

sub posts {
    open(my $in, '<', $log) or return 0;
    return scalar grep { /^POST / } <$in>;
}

sub up { return grep { $_->{status} =~ /^UP/ } $proxy->servers($_[0]) }

sub ask { return fetch($proxy, $_[0], "/console/$_[1]", $_[2], headers => $_[3] // []) }

# as a page of HAProxy's own address asks

my @page = ("Origin: http://127.0.0.1:$proxy->{port}", 'Sec-Fetch-Site: same-origin',
            'Content-Type: application/json');

sub pause { return ask(POST => "api/v1/targets/$_[0]/pause", '{"reason":"a test"}', \@page) }


# what may have been done is not done again: turns go round, so that each attempt
# of c is followed by one of an instance, if there is another attempt

sub once {
    my ($name, $status) = @_;

    my ($before, $n, %statuses) = (posts(), 0);

    while (posts() - $before < 3 && $n++ < 12) {
        $statuses{pause('sms.realtime')->{status} // 'none'}++;
    }

    is(posts() - $before, 3, "$name: three came there");
    is($statuses{$status}, 3, "$name: three were answered $status")
        or diag(explain(\%statuses));
    is(join(' ', sort keys %statuses), "200 $status", "$name: the others were done");
}

once('it hangs up', 502);
does('503');
once('it is not ready', 503);
does('hang');
once('it does not answer', 504);


# and an instance that cannot be reached is passed over

does('close');
kill('KILL', -$raw->{pid});     # and who has not answered yet
waitpid($raw->{pid}, 0);
$lease->kill_tree($instances[1]);

is_deeply([grep { $_ != 200 } map { pause('push.marketing')->{status} // 'none' } 1 .. 6],
          [], 'what cannot be reached is repeated elsewhere');
$instances[1]->start;


# the store is gone

my $lock = $cluster->store->lock;

# for so long that the other backend would have found out, too: two checks

wait_for('no instance is ready', sub {
    !grep { $_->{status} !~ /^DOWN/ || $_->{lastchg} < 4 } $proxy->servers;
}, 60);

is(fetch($proxy, 'GET', '/v1/cluster')->{status}, 503, 'no client gets anything');
is(scalar(up('console')), 2, 'the instances serve the console');

my ($page, $overview) = map { ask(GET => $_) } '', 'api/v1/overview';

is($page->{status}, 200, 'the page is there');
like($page->{body}, qr/<html/, 'as it is');
is($overview->{status}, 200, 'with what it shows');
isnt(decode_json($overview->{body})->{store}{state}, 'up', 'which is that the store is not up');
is_deeply([grep { $_ != 200 } map { ask(GET => 'api/v1/targets')->{status} // 'none' } 1 .. 6],
          [], 'by each instance');

$cluster->store->unlock($lock);

wait_for('they are ready again', sub { up('submission') == 2 }, 60);
pass('and all is well afterwards');

$proxy->stop;
$lease->done;
