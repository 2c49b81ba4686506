# GET /v1/intents/{id}/history: the attempts, newest first, in pages.
#
# An intent that is tried for days has tens of thousands of attempts: an answer
# has one page of them, and "next" leads to the one before it in time.  Breaks
# when an answer without arguments has all of them, when attempts that are made
# meanwhile shift the pages, or when a page end hides or repeats an attempt.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $bad_limit = problem('invalid_request',
                         '"limit" must be a number between 1 and 500',
                         '"field":"limit"');
our $bad_after = problem('invalid_request',
                         '"after" must be the "next" of an earlier page',
                         '"field":"after"');

# attempts from .. to of an intent, and no others but those before

sub attempts {
    my ($id, $from, $to) = @_;

    while ($from <= $to) {
        my $last = $from + 199 < $to ? $from + 199 : $to;

        sql('INSERT INTO submission_attempts ' . store()->attempt_columns
            . ' VALUES ' . join ',', map {
                "('submission-manager-executor', '$id', $_, 1, 'sm-01', $_, "
                . "$_, 'error', NULL, 'no $_')" } $from .. $last);
        $from = $last + 1;
    }

    sql("UPDATE submission_intents SET attempt_count = $to "
        . "WHERE intent_id = '$id'");
}

sub numbers {
    return map { $_->{attemptNumber} } @{$_[0]{json}{attempts}};
}

run_tests();

__DATA__

=== TEST 1: 50 of them, unless told otherwise
--- client eval
sub {
    http(submit($_)) for 'a', 'b';
    attempts('a', 1, 120);
    attempts('b', 1, 50);

    my $page = http('GET /v1/intents/a/history');

    is($page->{code}, 200, 'answered');
    is(join(' ', numbers($page)), join(' ', reverse 71 .. 120),
       'the newest first');
    is($page->{json}{next}, '71', 'and there is more');
    is($page->{json}{intent}{attemptCount}, 120, 'the intent knows of all');
    is($page->{json}{attempts}[0]{error}, 'no 120', 'each has its own');

    $page = http('GET /v1/intents/b/history');

    is(join(' ', numbers($page)), join(' ', reverse 1 .. 50), 'just as many');
    ok(exists $page->{json}{next} && !defined $page->{json}{next},
       'and there is no more');
}



=== TEST 2: pages of all sizes
--- client eval
sub {
    http(submit('a'));
    attempts('a', 1, 600);

    for my $limit (1, 7, 100, 500) {
        my ($page, @numbers, @sizes);
        my $after = '';

        do {
            $page = http("GET /v1/intents/a/history?limit=$limit$after");
            $page->{code} == 200 or die "$page->{code}: $page->{body}\n";
            @sizes < 1000 or die "the history does not end\n";

            push @numbers, numbers($page);
            push @sizes, scalar numbers($page);
            $after = '&after=' . ($page->{json}{next} // '');
            is($page->{json}{intent}{intentId}, 'a', 'with its intent')
                if @sizes == 2;

        } while (defined $page->{json}{next});

        is(join(' ', @numbers), join(' ', reverse 1 .. 600),
           "pages of $limit: each attempt once");
        is(scalar(grep { $_ != $limit } @sizes[0 .. $#sizes - 1]), 0,
           'all but the last are full');
    }
}



=== TEST 3: attempts that are made meanwhile
--- client eval
sub {
    http(submit('a'));
    attempts('a', 1, 10);

    my $page = http('GET /v1/intents/a/history?limit=4');

    is(join(' ', numbers($page)), '10 9 8 7', 'a page');

    attempts('a', 11, 20);

    $page = http("GET /v1/intents/a/history?limit=4&after=$page->{json}{next}");

    is(join(' ', numbers($page)), '6 5 4 3', 'the next one is not shifted');
}



=== TEST 4: bad arguments
--- request eval
[(map { "GET /v1/intents/a/history?limit=$_" } '', 0, 501, -1, 'x', '1.0'),
 (map { "GET /v1/intents/a/history?after=$_" } '', 0, -1, 'x', '1%20',
                                     '9223372036854775808', 'MTcwMDAgYQ')]
--- error_code eval
[(400) x 13]
--- response_body eval
[($bad_limit) x 6, ($bad_after) x 7]



=== TEST 5: after the oldest, after none that was ever, and of no intent
--- client eval
sub {
    http(submit('a'));
    attempts('a', 1, 3);

    for my $what (['1', ''], ['9223372036854775807', '3 2 1'], ['4', '3 2 1'],
                  ['3', '2 1'])
    {
        my ($after, $numbers) = @$what;
        my $page = http("GET /v1/intents/a/history?after=$after");

        is(join(' ', numbers($page)), $numbers, "after $after");
        is($page->{json}{intent}{intentId}, 'a', 'with its intent');
        is($page->{json}{next}, undef, 'the last page');
    }

    is(http('GET /v1/intents/b/history?limit=1')->{code}, 404, 'no intent');
}
