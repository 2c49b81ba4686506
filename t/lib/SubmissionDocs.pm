package SubmissionDocs;

# README.md and docs/, for tests that run what they say: the fenced blocks of a
# page, and the commands of a block.

use strict;
use warnings;

use Exporter qw(import);
use File::Basename;
use File::Path qw(make_path);
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT_OK = qw(blocks commands run_curl slurp spew wait_for wrong_answers);

our $patience = $ENV{SUBMISSION_CHECK} ? 120 : 60;


sub slurp {
    my $file = shift;

    open my $in, '<:raw', $file or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

sub spew {
    my ($file, $text, $mode) = @_;

    make_path(dirname($file));
    open my $out, '>:raw', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
    chmod $mode // 0644, $file;
}

sub wait_for {
    my ($what, $condition) = @_;

    for (my $end = time + $patience; time < $end; sleep 0.05) {
        my $value = $condition->();
        return $value if $value;
    }

    diag("waited in vain for $what");
    return;
}


# The fenced blocks of a page, in their order.  "<!-- test: <kind> <words> -->"
# before a block says what it is; t/050-docs.t has the kinds.

sub blocks {
    my $doc = shift;

    my $text = slurp($doc);
    my @blocks;

    while ($text =~ /^([ ]*)(?:<!--\ test:\ ([^>]*?)\ -->\n\1)?
                     ```(\w*)\n(.*?)^\1```$/msgx)
    {
        my ($indent, $marker, $language, $body) = ($1, $2, $3, $4);
        my $line = 1 + substr($text, 0, $-[0]) =~ tr/\n//;
        my ($kind, @words) = split ' ', $marker // '';

        $body =~ s/^\Q$indent\E//mg;

        push @blocks, { doc => $doc, where => "$doc:$line",
                        language => $language, kind => $kind // '',
                        words => { map { $_ => 1 } @words }, body => $body };
    }

    return @blocks;
}


# The commands of a script, each with the lines that it goes on in.

sub commands {
    my ($body, $file) = @_;

    my ($command, @commands) = '';

    for my $line (split /^/, $body) {
        $command .= $line;
        spew($file, $command);

        if ($command !~ /\\\n\z/ && system("bash -n $file 2>/dev/null") == 0) {
            push @commands, $command;
            $command = '';
        }
    }

    die "\"$command\" is not a command\n" if $command =~ /\S/;

    return @commands;
}


# Runs a script of a page with a curl that knows the password of "ann", and that
# keeps its statuses in $dir.  Returns what the script said.

my $curl = "#!/bin/bash\n" . <<'END';
for arg; do
    [ "$arg" = ann ] && arg=ann:secret
    args+=("$arg")
done
exec /usr/bin/curl -sS -m 60 "${args[@]}" \
     -w '%{stderr}%{http_code} %{method} %{url}\n' 2> "$ANSWERS.$EPOCHREALTIME.$$"
END

sub run_curl {
    my ($dir, $script) = @_;

    local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
    local $ENV{ANSWERS} = "$dir/answer";

    spew("$dir/bin/curl", $curl, 0755);
    spew("$dir/script.sh", $script);
    unlink glob "$dir/answer.*";

    return scalar `timeout @{[2 * $patience]} bash $dir/script.sh < /dev/null 2>&1`;
}


# What was not answered as it should be: with 2xx, or with a status that is in
# the marker of the block.  What "until" asks again has to be answered so once,
# in the end.

sub wrong_answers {
    my ($dir, $block) = @_;

    my $allowed = join '|', '2\d\d', grep { /^\d+$/ } keys %{ $block->{words} };
    my @answers = map { slurp($_) } sort glob "$dir/answer.*";

    return 'curl was not run' if !@answers;

    if ($block->{body} =~ /\buntil curl /) {
        my (%last, @order);

        for my $answer (@answers) {
            my ($what) = $answer =~ /^\d+ (.*)\n\z/m;

            push @order, $what if !exists $last{$what};
            $last{$what} = $answer =~ s/^curl: .*\n//mgr;
        }

        @answers = @last{@order};
    }

    return grep { !/^(?:$allowed) [A-Z]+ http/ } map { split /\n/ } @answers;
}


1;
