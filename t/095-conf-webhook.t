# Webhooks in the configuration: what nginx refuses to start with, and says of it.
#
# A secret that is not one must be found before it signs anything, and must not be in
# the message.  Breaks when a webhook has no URL or no secret, when a "notify" names
# none, when an end is misspelled, or when a client's target can be called as a
# webhook's.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use File::Temp qw(tempdir);

our $dir = tempdir(CLEANUP => 1);

sub secret {
    my ($name, $text, $mode) = @_;

    open(my $file, '>', "$dir/$name") or die "$dir/$name: $!";
    print $file $text;
    close $file;
    chmod $mode // 0600, "$dir/$name";
}

secret('good', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
secret('short', "whsec_MfKQ9r8GKYqrTwjUPD8I\n");
secret('plain', "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
secret('empty', "\n");
secret('open', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0644);

sub webhook {
    my ($lines, $name) = @_;

    return "        webhook " . ($name // 'ops') . " { $lines } # here\n";
}

our $url = 'url http://127.0.0.1:9;';

run_tests();

__DATA__

=== TEST 1: no URL
--- block eval: main::webhook("secret_file $main::dir/good;")
--- refused
webhook "ops": "url" is missing



=== TEST 2: no secret
--- block eval: main::webhook($main::url)
--- refused
webhook "ops": "secret_file" is missing



=== TEST 3: a name with a space
--- block eval: main::webhook($main::url, '"a b"')
--- refused
the webhook's name "a b" must be of letters, digits, ".", "_" and "-"



=== TEST 4: a secret that is too short
--- block eval: main::webhook("$main::url secret_file $main::dir/short;")
--- refused eval
qq(a secret in secret_file "$main::dir/short" must have 24 to 64 bytes after "whsec_", as base64)



=== TEST 5: one that is none
--- block eval: main::webhook("$main::url secret_file $main::dir/plain;")
--- refused eval
qq(a secret in secret_file "$main::dir/plain" must begin with "whsec_")



=== TEST 6: no line in the file
--- block eval: main::webhook("$main::url secret_file $main::dir/empty;")
--- refused eval
qq(a secret in secret_file "$main::dir/empty" is missing: the file is empty)



=== TEST 7: everybody can read it
--- block eval: main::webhook("$main::url secret_file $main::dir/open;")
--- refused eval
qq(secret_file "$main::dir/open" can be read by everybody: mode 0600 or 0640 was expected)



=== TEST 8: an end that is none
--- block eval: main::webhook("$main::url secret_file $main::dir/good; events accepted done;")
--- refused
invalid value "done" of "events": "accepted", "rejected", "exhausted" or "canceled" was expected



=== TEST 9: once is not at least once
--- block eval: main::webhook("$main::url secret_file $main::dir/good; policy one_shot;")
--- refused
webhook "ops": "policy one_shot" would not tell it at least once



=== TEST 10: a URL that is none
--- block eval: main::webhook("url ftp://127.0.0.1;")
--- refused
invalid value "ftp://127.0.0.1" of "url": it must be "http://host..." or "https://host..."



=== TEST 11: "on" of something else
--- block
        notify ops on=accepted,soon; # here
--- refused
invalid parameter "on=accepted,soon" of "notify": "on=" and "accepted", "rejected", "exhausted" or "canceled", separated by commas, was expected



=== TEST 12: two of a name
--- block eval
main::webhook("$main::url secret_file $main::dir/good;") =~ s/ # here//r
. main::webhook("$main::url secret_file $main::dir/good;")
--- refused
duplicate target "webhook ops"



=== TEST 13: a target of a client is no webhook
--- block
        target t { gateway_type webhook; # here
--- refused
invalid value "webhook" of "gateway_type": "sms", "push" or "http" was expected



=== TEST 14: nobody of that name
--- block
        notify none; # here
--- refused
unknown webhook "none" of "notify" in {here}: the name of a webhook block of submission_manager "main" was expected{any}



=== TEST 15: an end of which the webhook does not want to know
--- block eval
main::webhook("$main::url secret_file $main::dir/good; events rejected;") =~ s/ # here//r
. "        notify ops on=accepted; # here\n"
--- refused
"notify ops" in {here} has an end in "on=" that is not among the "events" of the webhook{any}
