package SubmissionAnswers;

# Answers of the API, written down for t/tools/openapi.py, which compares them
# with docs/reference/openapi.yaml when the tests are done.
#
#   my @requests = requests($bytes);       # [method, target], ...
#   record($request, $status, \%headers, $body);
#
# Clients of all kinds call this, so it must cost little: an answer is written
# once for each kind that there is, and its kind is what is left of it without
# the values that differ from one answer to the next.  Words stay, as those of
# "status" do, so that a new word is a new kind.  A test has LIMIT kinds at the
# most, of up to LARGEST bytes.
#
# Where a test is answered by somebody else at a path of the API, or has put
# into the store what cannot be, it says so: SubmissionAnswers::ignore(1), or
# "--- not_api: <reason>" in a block of Test::Nginx.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Exporter 'import';
use File::Basename qw(basename);
use JSON::PP ();

our @EXPORT_OK = qw(requests record);

use constant { LIMIT => 500, LARGEST => 1_000_000 };

my $dir;
my $json = JSON::PP->new->ascii->canonical;

my $word = qr/^"[a-z_]{0,24}"\z/;
my $time = qr/^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"\z/;

my %seen;
my $ignored = 0;


# answers go to files in this directory; to none, and nothing is written

sub begin {
    $dir = $_[0];
    %seen = ();
}

begin($ENV{SUBMISSION_TEST_DIR});


sub ignore { $ignored = $_[0] }


# those in bytes, by their first lines: the body before it may have no end of line

sub requests {
    return map { [split / /] } $_[0] =~ m{([A-Z]+ \S+) HTTP/1\.\d\r?\n}g;
}


# without what differs: text but words, digits, and entries that are alike

sub kind {
    my ($body) = @_;

    $body =~ s{("(?:[^"\\]|\\.)*")(:?)}{
        my ($text, $colon) = ($1, $2);

        $colon || $text =~ $word ? "$text$colon"
        : $text =~ $time ? 'time' : 'text';
    }gse;
    $body =~ s/-?\d+(?:\.\d+)?/0/g;
    $body =~ s/(\{[^{}]*\})(?:,\1)+/$1/g;

    return $body;
}


sub record {
    my ($request, $status, $headers, $body) = @_;

    # without its name it is not nginx's, but HAProxy's own

    return if !defined $dir || $ignored || !$request || !$status
              || !defined $headers->{server}
              || defined $headers->{'content-encoding'};

    my ($method, $target) = @$request;
    (my $path = $target) =~ s/\?.*//s;

    return if $path !~ m{^(?:https?://[^/]*)?/(?:v1/|readyz$|metrics$)}
              || length $body > LARGEST;

    # the values of these tell kinds apart, too

    my %told = map { $_ => $headers->{$_} } grep { defined $headers->{$_} }
               qw(allow idempotent-replayed retry-after www-authenticate);
    my $type = $headers->{'content-type'} // '';

    $path =~ s{^(/v1/[a-z]+/)[^/]+}{$1*};

    my $text = $type =~ m{^application/} ? kind($body)
               : $type =~ m{^text/plain} ? substr($body, 0, 6) : '';
    my $key = md5_hex(join "\n", $method, $path, $status, $type, $text,
                      map { "$_: $told{$_}" } sort keys %told);

    return if $seen{$key}++ || keys %seen > LIMIT + 1;

    my $test = basename($0);
    my %entry = (test => $test);

    if (keys %seen > LIMIT) {
        $entry{full} = 1;

    } else {
        @entry{qw(key method target status type headers body)}
            = ($key, $method, $target, $status + 0, $type, \%told, $body);
    }

    # a file of each process: a test may have several

    mkdir "$dir/answers";

    open my $out, '>>', "$dir/answers/$test.$$.jsonl"
        or die "cannot write $dir/answers/$test.$$.jsonl: $!\n";
    print $out $json->encode(\%entry), "\n";
    close $out;
}


1;
