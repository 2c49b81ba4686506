package SubmissionTable;

# Tables of what must be answered, and to what, as text:
#
#   a message at the left margin, that goes on in the lines
#   after it
#       what it is the answer to, by four spaces
#       the next one
#           its second line
#
# A row is such a message, and what stands below it once: lines with more than
# four spaces, and a "}", belong to the row above.
#
#   {x1f}      a byte
#   {300 ab}   "ab", 300 times
#
# and words that the test has.

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(rows clip);


sub rows {
    my ($table, %words) = @_;

    my ($message, @rows);
    my $in_rows = 1;

    for my $line (grep { /\S/ } split /\n/, $table) {

        if ($line =~ /^\S/) {
            $message = $in_rows ? $line : "$message $line";
            $in_rows = 0;
            next;
        }

        push @rows, { message => $message, lines => [] }
            unless $line =~ /^ {5}|^ {4}\}/;
        push @{$rows[-1]{lines}}, $line;
        $in_rows = 1;
    }

    for my $row (@rows) {
        $_ = expand($_, \%words) for $row->{message}, @{$row->{lines}};
    }

    return @rows;
}


sub expand {
    my ($text, $words) = @_;

    my $names = join '|', map { quotemeta } sort keys %$words;

    $text =~ s/\{($names)\}/$words->{$1}/g if $names;
    $text =~ s/\{x([0-9a-f]{2})\}/chr hex $1/ge;
    $text =~ s/\{(\d+) (.+?)\}/$2 x $1/ge;

    return $text;
}


# the beginning of a text, for the name of a check

sub clip {
    my ($text) = @_;

    $text =~ s/^\s+//;
    $text =~ s/[^\x20-\x7e]+/?/g;

    return length $text > 60 ? substr($text, 0, 60) . '...' : $text;
}


1;
