# Nothing acknowledged is lost (G3): 10,000 intents from many connections go
# to two instances on one store; four times all nginx processes are killed with
# SIGKILL in the middle of it.  Every intent that was answered 200 is there
# after the restart, byte for byte as it was answered, and none is there twice.
# What had no answer is posted again, as a client would.
#
# Goes red when: a batch is answered before its commit; a commit is left out;
# a database is started anew instead of recovered; a duplicate creates again.
#
# A killed process leaves what it wrote to the kernel: this does not show
# whether commits are synchronous.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { INTENTS => 10_000, KILLS => 4 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

$cluster->instance('a');
$cluster->instance('b');
$cluster->start;

my $load = $cluster->load(connections => 64, total => INTENTS,
                          prefix => 'crash',
                          retry => [qw(refused unanswered torn)]);
my %checked;


# what was answered since the last time is read back

sub check {
    my ($when) = @_;

    my @ids = grep { !$checked{$_}++ } sort keys %{$load->{answered}};

    is_deeply([$cluster->verify($load, ids => \@ids)], [],
              "$when: all of " . @ids . ' answered 200 are found');
}


$load->start;

for my $kill (1 .. KILLS) {
    my $at = $kill * INTENTS / (KILLS + 1) + int rand 200;

    wait_for("$at intents are answered", sub {
        $load->count('answered') >= $at;
    });

    my $outstanding = $load->{outstanding};

    # no turn of the loop in between: nothing is sent to the dead
    $cluster->kill_now;
    $load->pause;

    cmp_ok($outstanding, '>', 0,
           "kill $kill: in the middle of $outstanding requests");

    # answers that were on their way count
    wait_for('all connections end', sub { !$load->{outstanding} });

    $cluster->wait_gone;
    $cluster->start;

    check("kill $kill");

    $load->start;
}

wait_for('all intents are answered', sub { $load->finished }, 60);

check('in the end');

is($load->count('answered'), INTENTS, 'every intent was answered 200');
is_deeply($load->{final}, {}, 'and nothing else');
is_deeply($load->{changed} // [], [], 'a duplicate is answered as the first time');
is_deeply([grep { $_ > 1 } values %{$load->{created}}], [],
          'none was created twice');
is_deeply([grep { !$load->{retried}{$_} } keys %{$load->{replayed}}], [],
          'none was there before it was posted');

is_deeply([$store->query('SELECT count(*), count(DISTINCT intent_id) '
                         . 'FROM submission_intents')],
          [[INTENTS, INTENTS]], 'the store has each intent once');

my %stored = map { $_->[0] => $_->[1] }
             $store->query('SELECT intent_id, hex(payload) '
                           . 'FROM submission_intents');

is_deeply([grep { uc(unpack('H*', $load->payload($_))) ne ($stored{$_} // '') }
           keys %{$load->{answered}}],
          [], 'payloads are stored byte for byte');

ok($store->sound, 'the store is sound');

note(sprintf '%d posted again: %d had been committed, %d had not',
     $load->count('retried'), $load->count('replayed'),
     $load->count('retried') - $load->count('replayed'));

$cluster->done;
