# GET /v1/events of one instance: its arguments, its ETag, its pages.
#
# Breaks when an argument that is not known is taken, when a page leaves out what
# came after the one before, when an ETag hides an event or changes by itself,
# or when the feed is not there while the store is down.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;
use Encode ();
use JSON::PP;

sub feed {
    my ($query, @headers) = @_;

    my $answer = http('GET /v1/events' . ($query // ''), @headers);

    $answer->{json} = decode_json($answer->{body}) if $answer->{body};

    return $answer;
}

sub kinds { return map { $_->{kind} } @{$_[0]{json}{events}} }

sub told {
    my ($kind) = @_;

    wait_for(sub { grep { $_ eq $kind } kinds(feed()) })
        or die "there is no $kind\n";
}

leads();

# the longest names: 128 characters of four bytes; the last ones differ

our @long = map { "\xf0\x9f\x92\xb6" x 127 . "\xf0\x9f\x92$_" } "\xb6", "\xb7";

our $long = join '', map { <<"EOC" } @long;
        target $_ {
            gateway_type http;
            gateway_url  http://127.0.0.1:1/;
            policy       deadline 1h;
        }
EOC

our $api = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /o/ {
            submission_api main access=operate;
        }
EOC

run_tests();

__DATA__

=== TEST 1: what there is, newest first
--- client eval
sub {
    told('leader_acquired');

    my $answer = feed();

    is($answer->{code}, 200, 'it is answered');

    my @kinds = grep { /^(?:instance_started|leader_acquired)$/ } kinds($answer);

    is("@kinds[0, -1]", 'leader_acquired instance_started', 'the newest first');
    is($answer->{json}{more}, JSON::PP::false, 'that is all');

    my ($event) = grep { $_->{kind} eq 'leader_acquired' } @{$answer->{json}{events}};

    like($event->{text}, qr/^\S+ became the leader \(epoch \d+\)/, 'a sentence');
    like($event->{id}, qr/^[0-9a-f]{8}-\d+$/, 'an id');
}



=== TEST 2: pages and cursors
--- client eval
sub {
    told('leader_acquired');

    my $all = feed()->{json};
    my $one = feed('?limit=1')->{json};

    is(scalar @{$one->{events}}, 1, 'one');
    is($one->{events}[0]{id}, $all->{events}[0]{id}, 'the newest');
    is($one->{more}, JSON::PP::true, 'there are more');
    is_deeply(feed("?after=$one->{next}")->{json}{events}, [],
              'and none after it');

    # the cursor of one who has seen nothing

    my ($after, @ids) = ('ZQAAAAAAAAAA');

    for (1 .. @{$all->{events}}) {
        my $page = feed("?after=$after&limit=1")->{json};

        push @ids, map { $_->{id} } @{$page->{events}};
        $after = $page->{next};
    }

    is("@ids", join(' ', map { $_->{id} } reverse @{$all->{events}}),
       'one by one, all of them');
    is_deeply(feed("?after=$after")->{json}{events}, [], 'and no more');
}



=== TEST 3: arguments and methods
--- client eval
sub {
    told('leader_acquired');

    for my $query (qw(?after= ?after=nonsense ?limit=0 ?limit=501 ?kind=
                      ?kind=nonsense ?target= ?before=x))
    {
        my $answer = feed($query);

        is($answer->{code}, 400, "$query is refused");
        like($answer->{body}, qr/"invalid_request"/, 'with a code');
    }

    is(http("POST /v1/events\n{}")->{code}, 405, 'nobody writes here');

    is_deeply([kinds(feed('?kind=leader_acquired'))], ['leader_acquired'],
              'by kind');
    is_deeply(feed('?kind=job_done')->{json}{events}, [], 'of which there is none');
    is_deeply(feed('?target=nobody')->{json}{events}, [], 'nor of this target');
}



=== TEST 4: the ETag stays while nothing happens
--- client eval
sub {
    told('leader_acquired');

    my ($first, $again);

    ok(wait_for(sub {
        $first = feed();
        $again = feed('', "If-None-Match: $first->{headers}{etag}");
        $again->{code} == 304;
    }), 'nothing has changed');
}



=== TEST 5: names of targets are whole, however long
--- manager eval: $::long
--- config eval: $::api
--- client eval
sub {
    my @names = map { my $name = $_; $name =~ s/(.)/sprintf '%%%02X', ord $1/ge; $name }
                    @main::long;

    told('leader_acquired');

    for my $name (@names) {
        is(http("POST /o/targets/$name/pause\n{}")->{code}, 200, 'it is paused');
        ok(wait_for(sub { @{feed("?target=$name")->{json}{events}} }),
           'and found by its name');
    }

    for my $i (0, 1) {
        my $events = feed("?target=$names[$i]")->{json}{events};

        is(scalar @$events, 1, 'and no other');
        is(Encode::encode('UTF-8', $events->[0]{target}), $main::long[$i], 'which is told');
    }
}
