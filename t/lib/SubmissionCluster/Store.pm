package SubmissionCluster::Store;

# The store that all instances share, of the kind that SUBMISSION_TEST_STORE
# names, and the test's own way to it.

use strict;
use warnings;

use IPC::Open3;


sub new {
    my ($class, $cluster) = @_;

    my $kind = $ENV{SUBMISSION_TEST_STORE} || 'sqlite';

    die "SUBMISSION_TEST_STORE=\"$kind\" is no store that tests know\n"
        if $kind ne 'sqlite';

    return bless {
        kind => $kind, dir => "$cluster->{dir}/store/data", others => [],
    }, $class;
}


sub kind { return $_[0]{kind} }

sub dir { return $_[0]{dir} }

sub file { return "$_[0]{dir}/submission.db" }


sub directive {
    my ($self, $busy_timeout) = @_;

    $busy_timeout //= '5s';

    return 'store sqlite ' . $self->file . " busy_timeout=$busy_timeout;";
}


# Rows of a query, as arrays.  While no nginx has the file open this process
# recovers it after a crash, in their place.

sub query {
    my ($self, $sql) = @_;

    open(my $pipe, '-|', 'sqlite3', '-batch', '-noheader', '-separator', "\t",
         '-cmd', '.timeout 20000', $self->file, $sql)
        or die "sqlite3: $!";

    my @rows = map { chomp; [split /\t/, $_, -1] } <$pipe>;

    close $pipe or die "sqlite3 failed: $sql\n";

    return @rows;
}


sub value {
    my ($self, $sql) = @_;

    my ($row) = $self->query($sql);

    return $row->[0];
}


# another process takes the write lock, and has it when this returns

sub lock { return $_[0]->_transaction('BEGIN IMMEDIATE; SELECT 1') }


# another process reads, and keeps what it sees from being overwritten

sub read_lock {
    return $_[0]->_transaction('BEGIN; SELECT 1 FROM submission_schema');
}


sub _transaction {
    my ($self, $sql) = @_;

    my $pid = open3(my $in, my $out, undef, 'sqlite3', '-batch', '-cmd',
                    '.timeout 20000', $self->file);

    print $in "$sql;\n";
    $in->flush;

    my $line = <$out> // '';

    die "sqlite3: $sql: $line\n" if $line ne "1\n";

    my $other = { pid => $pid, in => $in, out => $out };

    push @{$self->{others}}, $other;

    return $other;
}


sub unlock {
    my ($self, $other) = @_;

    my $pid = delete $other->{pid} // return;

    print {$other->{in}} "ROLLBACK;\n";

    close $other->{in};
    waitpid($pid, 0);
}


sub cleanup {
    my ($self) = @_;

    for my $other (@{$self->{others}}) {
        my $pid = delete $other->{pid} // next;

        kill('KILL', $pid);
        waitpid($pid, 0);
    }
}


1;
