# A hundred open pages of the console cost the store nothing: half of them at the
# leader and half at a follower, they ask what Overview asks every round, and
# neither instance asks its store for more than it does by itself, on its timers.
#
# What a leader does by itself is %leader, what a follower does %follower: each
# operation with its shortest interval.  Nothing is posted meanwhile, so there is
# no attempt and no turn.
#
# Goes red when: an answer of these asks the store, every time or now and then; an
# operation is called by more than its timer; Overview, or bench/console, asks for
# something else than this test does.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { PAGES => 100, ROUND => 2, SECONDS => 15 };

my $top = "$FindBin::Bin/../..";
my @paths = ('overview', 'targets', 'stats', 'events?limit=100');

# the frame asks for the first two, the page for the others

sub slurp {
    open(my $in, '<', "$top/$_[0]") or die "$_[0]: $!";
    local $/;
    return scalar <$in>;
}

is(join(' ', slurp('console/pages/overview.js') =~ /\bget\('([^']+)'/g),
   join(' ', @paths[2, 3]), 'Overview asks for this');
like(slurp('console/app.js'), qr/names = \['config', 'overview', 'targets'\]/,
     'and the frame around it');
like(slurp('bench/console'), qr/^my \@paths = \('\Q@{[join q(', '), @paths]}\E', /m,
     'as in the measurement');


# intervals in seconds; a queue is read in pages

my ($refresh, $renew, $acquire) = (0.2, 1, 0.5);

my %leader = (
    (map { $_ => $refresh } qw(inbox_move job_work schedules_fire targets_paused)),
    queue_page => $refresh / 2, lease_renew => $renew, stats_put => 5,
    retention => 1, tidy => 1, ping => 1,
);
my %follower = (lease_acquire => $acquire, lease_watch => $acquire, stats_get => 1,
                tidy => 1, ping => 1);

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '20s', renew => "${renew}s",
    acquire => $acquire * 1000 . 'ms', refresh => $refresh * 1000 . 'ms',
    instance => { zone => '8m', server => 'location /console/ { submission_console main; }' });

my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;

$run->post($run->ids('before', 20));
$run->wait_terminal('before-');

wait_for('both have numbers', sub {
    2 == grep { fetch($_, 'GET', '/v1/overview')->{body} =~ /"asOf":"/ } $leader, $follower });

sub calls {
    my $metrics = $_[0]->metrics;

    return { map { /^store_call_seconds_count\{op="(\w+)"\}/ ? ($1 => $metrics->{$_}) : () }
                 keys %$metrics };
}


# a page has one connection, and the ETag of each answer before

my %statuses;

my @pages = map {
    { connection => SubmissionCluster::Connection->open(($leader, $follower)[$_ % 2]{port}),
      at => time + ROUND * $_ / PAGES, tags => {} }
} 1 .. PAGES;

sub ask {
    my ($page, $path) = @_;

    my $tag = $page->{tags}{$path};

    $page->{connection}->send(
        SubmissionCluster::Client::request('GET', "/console/api/v1/$path", undef,
                                           $tag ? "If-None-Match: $tag" : ()),
        sub {
            my ($answer) = @_;

            $statuses{$answer->{status} // $answer->{lost}}++;
            $page->{tags}{$path} = $answer->{headers}{etag};
        });
}

sub look {
    for my $page (grep { $_->{at} <= time } @pages) {
        ask($page, $_) for @paths;
        $page->{at} += ROUND;
    }
}


my @was = map { calls($_) } $leader, $follower;
my $begun = time;

wait_for('all have looked for a while', sub { look(); time > $begun + SECONDS }, 60);

my @is = map { calls($_) } $leader, $follower;
my $took = time - $begun;
my $asked = ($statuses{200} // 0) + ($statuses{304} // 0);

is(join(' ', sort keys %statuses), '200 304', 'all were answered');
cmp_ok($asked, '>', PAGES * @paths * 2, "$asked times");

for my $n (0, 1) {
    my $who = ('the leader', 'the follower')[$n];
    my $own = (\%leader, \%follower)[$n];
    my %more;

    for my $op (keys %{$is[$n]}) {
        my $calls = $is[$n]{$op} - $was[$n]{$op};
        $more{$op} = $calls if $calls;
    }

    is(join(' ', grep { !$own->{$_} } sort keys %more), '', "$who asks its store nothing else");
    cmp_ok($more{$_}, '<=', $took / $own->{$_} + 3, "$who: $_ by its timer alone")
        for grep { $own->{$_} } sort keys %more;
}

$_->{connection}->close for @pages;
is(join(' ', map { $_->{name} } $run->leadership->leaders), $leader->{name}, 'the same one leads');

$run->done;
