# schedule: what nginx refuses to start with.
#
# A schedule that is misread runs at the wrong time, or never. Breaks when a value that
# is none is taken, when a target that is not there is found only at night, when a
# payload says more than the payload, or when nginx waits for a pipe.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use File::Temp qw(tempdir);
use POSIX qw(mkfifo);

our $dir = tempdir(CLEANUP => 1);

sub file {
    my ($name, $text) = @_;

    open(my $file, '>', "$dir/$name") or die "$dir/$name: $!";
    print $file $text;
    close $file;
}

file('empty', '');
file('keys', "{\"n\":1},\"overlap\":\"allow\"\n");
file('large', ' ' x (1024 * 1024) . '1');
mkfifo("$dir/pipe", 0600) or die "$dir/pipe: $!";

# lets an nginx go that waits for somebody who writes

local $SIG{ALRM} = sub {
    sysopen(my $pipe, "$dir/pipe", POSIX::O_WRONLY | POSIX::O_NONBLOCK);
    die "nginx waits for a pipe\n";
};

alarm(20 * slow());
run_tests();
alarm(0);

__DATA__

=== TEST 1: no time at all
--- block
        schedule a target=t; # here
--- refused
schedule "a": "every" or "cron" is needed



=== TEST 2: two
--- block
        schedule a target=t every=10m "cron=* * * * *"; # here
--- refused
schedule "a": "every" and "cron" exclude each other



=== TEST 3: not a time
--- block
        schedule a target=t every=soon; # here
--- refused
invalid value "soon" of "every": a time between 1s and 365d was expected



=== TEST 4: too long
--- block
        schedule a target=t every=366d; # here
--- refused
invalid value "366d" of "every": a time between 1s and 365d was expected



=== TEST 5: not cron
--- block
        schedule a target=t "cron=0 25 * * *"; # here
--- refused
schedule "a": "cron" has "25" as hour: numbers from 0 to 23, ranges, lists and steps were expected



=== TEST 6: no such zone
--- block
        schedule a target=t "cron=0 2 * * *" timezone=Europe/Nowhere; # here
--- refused
invalid "timezone=Europe/Nowhere" of schedule "a": a name of the IANA database such as "Europe/Stockholm" was expected



=== TEST 7: a time of day in a zone
--- block
        schedule a target=t every=1d start=02:00 timezone=Europe/Stockholm; # here
--- refused
"start=02:00" of schedule "a" is a time of day in UTC from which "every" counts: use "cron=" for local times



=== TEST 8: no such time of day
--- block
        schedule a target=t every=1d start=25:00; # here
--- refused
schedule "a": "startAt" is a date or a time of day that does not exist



=== TEST 9: a target that is none
--- block
        schedule a target=reports every=1d;
--- refused
schedule "a" of submission_manager "main" in {any} has the target "reports", which is none of it{any}



=== TEST 10: no target
--- block
        schedule a every=1d; # here
--- refused
schedule "a": "target=" is missing



=== TEST 11: twice
--- block
        schedule a target=t every=1d;
        schedule a target=t every=2d; # here
--- refused
duplicate schedule "a"



=== TEST 12: an id that is none
--- block
        schedule a@b target=t every=1d; # here
--- refused
the id of schedule "a@b" must be letters, digits, ".", "_", "-", ":" and "~"



=== TEST 13: not JSON
--- block
        schedule a target=t every=1d payload={; # here
--- refused
{any}



=== TEST 14: no such file
--- block
        schedule a target=t every=1d payload_file=none.json; # here
--- refused
"payload_file" "{root}/conf/none.json" cannot be opened (2: No such file or directory) in {here}



=== TEST 15: unknown parameters
--- block
        schedule a target=t every=1d policy=x; # here
--- refused
invalid parameter "policy=x" of "schedule": "every=" or "cron=", "target=", "payload=" or "payload_file=", "start=", "end=", "timezone=", "misfire=" or "overlap=" with a value was expected



=== TEST 16: a rule that is none
--- block
        schedule a target=t every=1d misfire=maybe; # here
--- refused
schedule "a": "misfire" must be "once", "skip" or "all"



=== TEST 17: an id that no path has
--- block
        schedule .. every=10m target=t; # here
--- refused
the id of schedule ".." must not be "." or ".."



=== TEST 18: a pipe
--- block eval
"        schedule a every=1d target=t payload_file=$main::dir/pipe; # here\n"
--- refused eval
qq("payload_file" "$main::dir/pipe" is not a file of up to 1m)



=== TEST 19: a directory
--- block eval
"        schedule a every=1d target=t payload_file=$main::dir; # here\n"
--- refused eval
qq("payload_file" "$main::dir" is not a file of up to 1m)



=== TEST 20: a file that is too large
--- block eval
"        schedule a every=1d target=t payload_file=$main::dir/large; # here\n"
--- refused eval
qq("payload_file" "$main::dir/large" is not a file of up to 1m)



=== TEST 21: a file that is empty
--- block eval
"        schedule a every=1d target=t payload_file=$main::dir/empty; # here\n"
--- refused eval
qq("payload_file" "$main::dir/empty" is empty)



=== TEST 22: a payload with other keys, in a file
--- block eval
"        schedule a every=1d target=t payload_file=$main::dir/keys; # here\n"
--- refused
the payload of schedule "a" is more than one value of JSON



=== TEST 23: and without one
--- block
        schedule a target=t every=1d 'payload=1,"misfire":"all"'; # here
--- refused
the payload of schedule "a" is more than one value of JSON
