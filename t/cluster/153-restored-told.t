# After a restore, what docs/howto/backup-and-restore.md has run on the database ends
# one_shot intents that may have been sent since: their webhooks are told of that end
# as of any other (G16), by the first leader, once each.  Whoever is not to be told
# of it is not.
#
# Goes red when: sql/sqlite/restored.sql, or the SQL of the document for this store,
# ends an intent without its event; or the event tells something else.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64);
use Test::More;

use SubmissionCluster;
use SubmissionReceiver;

my $dir = tempdir(CLEANUP => 1);

open(my $file, '>', "$dir/secret") or die "$dir/secret: $!";
print $file 'whsec_' . encode_base64('k' x 24, '') . "\n";
close $file;
chmod 0600, "$dir/secret";

my $receiver = SubmissionReceiver->new("$dir/ops", sub { return 204 });
my $port = $receiver->port;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    instance => { server => 'location /operate/ { '
                            . 'submission_api main access=operate; }',
                  manager => join '', map { <<"END" } qw(ops others) },
        webhook $_ {
            url http://127.0.0.1:$port/$_;
            secret_file $dir/secret;
            retry_delay 50ms;
        }
END
    targets => { 'once.told' => { policy => 'one_shot', path => '/told',
                                  more => 'notify ops on=exhausted; '
                                          . 'notify others on=accepted;' },
                 'once.quiet' => { policy => 'one_shot', path => '/quiet' } });
my ($gateway, $store) = ($run->gateway, $run->store);
my @told = $run->ids('told', 3);
my @quiet = $run->ids('quiet', 2);

$run->start;

my ($here) = $run->instances;

for my $target (qw(once.told once.quiet)) {
    is(fetch($here, 'POST', "/operate/targets/$target/pause", '{}')->{status},
       200, "$target is paused");
}

my $leader = $run->leadership->wait_leader;

wait_for('the leader has read it',
         sub { $leader->log_count(qr/target_paused/) == 2 });
$run->post((map { [$_, 'once.told'] } @told),
           (map { [$_, 'once.quiet'] } @quiet));


# the SQL of the document

sub restore {
    my $top = $SubmissionCluster::top;
    my $kind = $store->kind;

    return system("sqlite3 -bail '@{[$store->file]}' "
                  . "< '$top/sql/sqlite/restored.sql'") if $kind eq 'sqlite';

    open(my $in, '<', "$top/docs/howto/backup-and-restore.md") or die $!;

    my $howto = do { local $/; <$in> };

    $howto =~ /^<!-- test: sql $kind restore -->\n```sql\n(.*?)^```/ms
        or die "no SQL of $kind\n";

    # an error is one of the test

    $kind eq 'postgres' ? $store->{dbh}->do($1)
                        : SubmissionStore::MSSQL::_query($store->{dbh}, $1);

    return 0;
}

my $epoch = $run->leadership->row->{epoch};

$_->quit for $run->instances;
is(restore(), 0, 'restored');
is_deeply($run->statuses('told-'), { 'exhausted outcome_unknown' => 3 },
          'what may have been sent has ended');
is_deeply($run->statuses('quiet-'), { 'exhausted outcome_unknown' => 2 },
          'whether a webhook is to be told or not');
is($store->value('SELECT count(*) FROM submission_intents '
                 . "WHERE event_of LIKE 'told-%' AND status = 'pending' "
                 . "AND submission_target = 'webhook ops'"), 3,
   'its event was written with it');
is($store->value('SELECT count(*) FROM submission_intents '
                 . 'WHERE event_of IS NOT NULL'), 3, 'and no other');


# and is sent by the next leader

$run->cluster->start;
$run->leadership->wait_leader;
cmp_ok($run->leadership->row->{epoch}, '>', $epoch + 999_999,
       'the epoch is a new one');

wait_for('the webhook is told', sub { scalar(my @r = $receiver->requests) >= 3 });
wait_for('of each', sub {
    $store->value('SELECT count(*) FROM submission_intents '
                  . "WHERE event_of IS NOT NULL AND status = 'pending'") == 0;
});

my @requests = $receiver->requests;

is(scalar @requests, 3, 'once each');
is_deeply([sort map { decode_json($_->{body})->{data}{intentId} } @requests],
          \@told, 'of all of them');

for my $request (@requests) {
    my $body = decode_json($request->{body});
    my $id = $body->{data}{intentId};

    is("$request->{path} $body->{type}", '/ops intent.exhausted',
       "$id: who is told what");
    is_deeply($body->{data},
              decode_json(fetch($here, 'GET', "/v1/intents/$id")->{body}),
              'as GET shows it');
    is($body->{timestamp}, $body->{data}{completedAt}, 'and when it was');
}

is_deeply([map { scalar $gateway->sends_of($_) } @told, @quiet],
          [(0) x 5], 'none of them is sent');

# epochs have a gap

$run->check;
$run->cluster->done;
