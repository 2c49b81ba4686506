# What a client, a gateway or the database chose is in quotes in every line of
# the log, and cannot end them: a field of a line is always the module's own.
#
# Goes red when a value is written as it came: an id such as
# `q" outcome=accepted x="` then has an outcome of its own, and a newline in a
# message begins a line.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $forged = 'outcome=forged attempt=99 status=forged lease_epoch=99';
my $run = SubmissionCluster::Executor->new(
    targets => { 'sms.odd' => { path => '/odd', policy => 'max_attempts 1' },
                 'sms.dead' => { url => 'http://127.0.0.1:1',
                                 policy => 'max_attempts 1' } },
    instance => { workers => 1 });
my $gateway = $run->gateway;
my $a = $run->start;


# The fields of a line: ours are words, and what is in quotes has a backslash
# before each quote and backslash.

sub fields {
    my ($line) = @_;

    my ($text) = $line =~ /submission: (.*)/ or return;
    my (%fields, @twice);

    $text =~ s/^(\w+)//;
    $fields{event} = $1;

    while ($text =~ s/^ (\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)//) {
        push @twice, $1 if exists $fields{$1};
        $fields{$1} = $2;
    }

    # an explanation may follow

    $fields{rest} = $text if length $text && $text !~ /^: /;
    $fields{twice} = "@twice" if @twice;

    return \%fields;
}


sub json {
    my ($text) = @_;

    $text =~ s/(["\\])/\\$1/g;

    return $text;
}


sub post {
    my ($id, $target, $payload) = @_;

    return fetch($a, 'POST', '/v1/intents',
                 SubmissionCluster::Client::intent(json($id), $payload // '1',
                                                   $target))->{status};
}


# an attempt is told after it is recorded

sub attempt {
    my ($id) = @_;

    return wait_for("there is a line of $id", sub {
        ($a->log_lines(qr/submission: attempt .*intent_id="$id"/))[0];
    });
}


my @ids = (qq(q" $forged x="), qq(back\\" $forged \\), 'two  spaces', '=', '"',
           '\\', "caf\xc3\xa9", '" ' x 90);
my %quoted = map { my $id = $_; $id =~ s/(["\\])/\\$1/g; $_ => qq("$id") }
             map { s/^\s+|\s+$//gr } @ids;
my $n = 0;

SKIP: {
    skip('the store leaves escapes of JSON in strings', 2)
        if !$run->store->escapes;

    # accepted, and at a gateway that refuses: nginx's own lines have the id, too

    for my $id (@ids) {
        is(post($id, 'sms.realtime'), 200, "$id is taken");
        is(post("dead $id", 'sms.dead'), 200, "dead $id is taken");
        $n += 2;
    }

    wait_for('all have their lines',
             sub { $a->log_count(qr/submission: attempt /) >= $n });

    my %seen = map { ($_->{intent_id} // '') => 1 } map { fields($_) }
               $a->log_lines(qr/submission: attempt /);

    is_deeply([grep { !$seen{$quoted{$_}} } sort keys %quoted], [],
              'each has its line, with the id in quotes');
    is($a->log_count(qr/connect\(\) failed.*, intent: "dead q\\" outcome=forged/),
       1, "in nginx's lines, too");
}


# what a gateway says

$gateway->behave('/odd' => 'reject gone\u0022\u0020' . ($forged =~ s/ /\\u0020/gr)
                           . '\u0020\u005c');
is(post('rejected', 'sms.odd'), 200, 'one that is rejected');

my $line = attempt('rejected');

is(fields($line)->{reason}, qq("gone\\" $forged \\\\"), 'the reason is quoted');
is(fields($line)->{outcome}, 'rejected', 'the outcome is ours');

$gateway->behave('/odd' => 'unknown');
is(post('unknown', 'sms.odd'), 200, 'one with an unknown status');

$line = attempt('unknown');

like(fields($line)->{error}, qr/^"HTTP 200 with unknown status \\".*\\""\z/,
     'the error is quoted');


# what a database says

$run->store->refuse('bad', qq(no" $forged x="));
is(post('bad', 'sms.realtime'), 500, 'one that the store refuses');

($line) = $a->log_lines(qr/submission: store_refused /);

# of SQL Server it has the name of a constraint, in quotes of its own

my $said = $run->store->kind eq 'mssql' ? qr/\\"/
                                        : qr/no\\" \Q$forged\E x=\\"/;

like(fields($line)->{sql_error}, qr/^".*$said.*"\z/,
     "the database's error is quoted");


# every line

my @bad = grep {
    my $fields = fields($_);
    $fields && ($fields->{rest} || $fields->{twice}
                || ($fields->{outcome} // '') eq 'forged'
                || ($fields->{lease_epoch} // '') eq '99');
} $a->log_lines(qr/submission: \w+ manager=/);

is_deeply(\@bad, [], 'every line has the fields that are ours');

$run->done;
