# Many intents of a target that cannot be sent to for a moment: the delay grows
# with how long that lasts, not with how many there are.
#
# Goes red when: each of those that could not be sent at the same time doubles
# the delay of the next, so that most miss their deadline after a pause of two
# seconds; or the delay does not grow at all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant TOGETHER => 24;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => {
        'http.first' => { type => 'http', policy => 'one_shot',
                          url => 'http://two/' },
        'http.two' => { type => 'http', policy => 'deadline 20s',
                        retry => '1s', url => 'http://two/' },
        'http.never' => { type => 'http', policy => 'one_shot', retry => '1s',
                          url => 'http://224.0.0.1/' },
    },
    instance => { workers => 1 });
my $dir = $run->cluster->{dir};
my ($a) = $run->instances;

my @two = map { mkdir "$dir/$_"; SubmissionCluster::Gateway->new("$dir/$_") }
          qw(first second);

$_->stop for @two;

$a->{http} .= ' upstream two { '
              . join('', map { "server 127.0.0.1:$_->{port} fail_timeout=2s; " } @two)
              . '}';

$run->start(record => 0);


# how long it waits after each time, in milliseconds

sub delays {
    return map { /retry_ms=(\d+)/ }
           $a->log_lines(qr/attempt_unsent .*intent_id="never-1"/);
}


# one that lasts

$run->post(['never-1', 'http.never']);

wait_for('never: it cannot be sent', sub { scalar(() = delays()) });

# neither is tried for two seconds

$run->post(['first-1', 'http.first']);
$run->wait_terminal('first-');
is($run->outcomes('first-1'), 'error', 'refused by both');

$run->post(map { ["together-$_", 'http.two'] } 1 .. TOGETHER);

wait_for('none of them can be sent', sub {
    $a->log_count(qr/attempt_unsent .*no server of upstream/) >= TOGETHER;
});

$_->start for @two;

$run->wait_terminal('together-', 60);
is_deeply($run->statuses('together-'), { accepted => TOGETHER },
          'all are sent when it is possible again');

wait_for('never: it is tried again', sub { (() = delays()) > 2 }, 60);
is_deeply([(delays())[0 .. 2]], [1000, 2000, 4000],
          'never: it is tried less and less often');

$a->expect_log(qr/connect\(\) to 224/);
$run->cluster->done;
