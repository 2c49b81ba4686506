package SubmissionCluster::Server;

# A PostgreSQL of the test's own, and a proxy before it: for tests that ill-treat
# both.  Say so before anything asks for a store:
#
#   my $server = SubmissionCluster::Server->start;    # or skips all tests
#   my $cluster = SubmissionCluster->new;
#   my $proxy = $server->proxy($cluster);             # its instances use it
#   $server->direct($cluster);                        # or they go without one
#   $server->options('retry=2s');                     # of "store postgres"
#   $server->kill; $server->recover;
#   $server->standby($cluster);                       # its instances know both
#   $server->kill; $server->promote;
#
# The test's own way to the store goes past the proxy.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use Test::More;

use SubmissionCluster::Proxy;

my $top = abs_path(dirname(__FILE__) . '/../../..');
my $owner = $$;
my @servers;

END {
    if ($$ == $owner) {
        my $status = $?;
        $_->stop for @servers;
        $? = $status;
    }
}


sub start {
    my ($class) = @_;

    # once, where all is run on one store after the other

    plan(skip_all => 'tests of a PostgreSQL of their own')
        if ($ENV{SUBMISSION_TEST_STORE} || 'dbname=') !~ /\bdbname=/;

    plan(skip_all => 'no PostgreSQL (Debian: postgresql libdbd-pg-perl)')
        if !glob('/usr/lib/postgresql/*/bin/postgres')
           || !eval { require DBD::Pg; 1 };

    # a path that the server's user can pass, and short enough for a socket

    my $base = $ENV{SUBMISSION_TEST_DIR} // '/tmp';

    $base = '/tmp' if length $base > 60;

    my $dir = "$base/submission-pg.$$." . @servers;
    my $self = bless { dir => $dir, proxies => [], options => '' }, $class;

    push @servers, $self;

    $self->recover;
    $ENV{SUBMISSION_TEST_STORE} = $self->{string};

    return $self;
}


sub _run {
    my ($self, $word) = @_;

    local $ENV{SUBMISSION_POSTGRES_DIR} = $self->{dir};
    my $output = `$top/t/tools/postgres.sh $word`;

    die "postgres.sh $word failed\n" if $? != 0;
    chomp $output;

    return $output;
}


# it starts again, as it was

sub recover {
    my ($self) = @_;

    $self->{string} = $self->_run('start');
    ($self->{port}) = $self->{string} =~ /port=(\d+)/;
}


sub port { return $_[0]{port} }


sub postmaster {
    my ($self) = @_;

    open(my $file, '<', "$self->{dir}/data/postmaster.pid") or return;
    my $pid = <$file>;
    chomp $pid;

    return $pid;
}


# SIGKILL to all of it, at the same moment

sub kill {
    my ($self) = @_;

    my $pid = $self->postmaster;
    my @all = ($pid, SubmissionCluster::Process::children($pid));

    kill('KILL', @all);

    SubmissionCluster::wait_for('the server is gone', sub {
        !grep { SubmissionCluster::Process::alive($_) } @all;
    });

    # where nobody has reaped it yet, its pid still looks alive

    unlink "$self->{dir}/data/postmaster.pid", glob "$self->{dir}/.s.PGSQL.*";
}


# SIGSTOP to all of it: it takes connections, and does not answer; returns the
# processes, which need SIGCONT

sub freeze {
    my ($self) = @_;

    my $pid = $self->postmaster;
    my @all = ($pid, SubmissionCluster::Process::children($pid));

    CORE::kill('STOP', @all);

    return @all;
}


# more lines of postgresql.conf

sub configure {
    my ($self, $lines) = @_;

    open(my $file, '>>', "$self->{dir}/data/postgresql.conf") or die $!;
    print $file "$lines\n";
    close $file;
}


sub proxy {
    my ($self, $cluster) = @_;

    my $proxy = SubmissionCluster::Proxy->new($self->{port});

    push @{$self->{proxies}}, $proxy;

    $cluster->store->{server} = $self;
    $cluster->store->{proxy} = $proxy;
    bless $cluster->store, 'SubmissionCluster::Server::Store';

    return $proxy;
}


# without a proxy: they see what the server, or the lack of it, does to them

sub direct {
    my ($self, $cluster, @more) = @_;

    $cluster->store->{server} = $self;
    $cluster->store->{ports} = [$self->{port}, @more];
    bless $cluster->store, 'SubmissionCluster::Server::Store';
}


# A second server that has what the first one commits, before it says so.

sub standby {
    my ($self, $cluster) = @_;

    my $dir = "$self->{dir}/standby";
    my $port = SubmissionCluster::free_port();
    my ($password) = $self->{string} =~ /password=(\S+)/;
    my $admin = SubmissionStore::Postgres::_connect('postgres');

    local $ENV{PGPASSWORD} = $password;

    $self->_as_server('pg_basebackup', '-h', '127.0.0.1', '-p', $self->{port},
                      '-U', 'owner', '-D', $dir, '-R', '-X', 'stream',
                      '-c', 'fast');

    open(my $file, '>>', "$dir/postgresql.conf") or die "postgresql.conf: $!";
    print $file "port = $port\n";
    close $file or die "postgresql.conf: $!";

    $self->{standby} = { dir => $dir, port => $port };
    $self->standby_start;

    $admin->do("ALTER SYSTEM SET synchronous_standby_names = '*'");
    $admin->do('SELECT pg_reload_conf()');

    SubmissionCluster::wait_for('the standby is synchronous', sub {
        $admin->selectrow_array('SELECT 1 FROM pg_stat_replication '
                                . "WHERE sync_state = 'sync'");
    });

    $admin->disconnect;

    $self->direct($cluster, $port);
}


# the standby takes writes; the test's own way to the store leads to it

sub promote {
    my ($self) = @_;

    my $standby = $self->{standby};

    $self->_as_server('pg_ctl', '-D', $standby->{dir}, '-w', '-s', 'promote');

    $ENV{SUBMISSION_TEST_STORE} =~ s/port=\d+/port=$standby->{port}/;
}


# the standby is gone, as the power goes, and comes back

sub standby_stop {
    my ($self) = @_;

    $self->_as_server('pg_ctl', '-D', $self->{standby}{dir}, '-m', 'immediate',
                      '-s', '-w', 'stop');
}


sub standby_start {
    my ($self) = @_;

    $self->_as_server('pg_ctl', '-D', $self->{standby}{dir}, '-l',
                      "$self->{dir}/standby.log", '-w', '-s', 'start');
}


# a program of PostgreSQL's, as the user that its files belong to

sub _as_server {
    my ($self, $program, @arguments) = @_;

    my ($bin) = reverse sort glob '/usr/lib/postgresql/*/bin';
    my @user = $> == 0 ? qw(setpriv --reuid=postgres --regid=postgres
                            --clear-groups --) : ();

    system(@user, "$bin/$program", @arguments) == 0
        or die "$program failed\n";
}


sub options { $_[0]{options} = $_[1] }


# a sample of /metrics

sub stop {
    my ($self) = @_;

    $_->stop for @{$self->{proxies}};

    eval { $self->_as_server('pg_ctl', '-D', $self->{standby}{dir}, '-m',
                             'immediate', '-s', '-w', 'stop'); 1 } or warn $@
        if $self->{standby};

    eval { $self->_run('stop'); 1 } or warn $@;
}


package SubmissionCluster::Server::Store;

our @ISA = ('SubmissionStore::Postgres');


sub directive {
    my ($self, %options) = @_;

    my $directive = $self->SUPER::directive(%options);
    my @ports = @{$self->{ports} // [$self->{proxy}->port]};
    my $hosts = join ',', ('127.0.0.1') x @ports;
    my $ports = join ',', @ports;

    $directive =~ s/host=\S+ port=\d+/host=$hosts port=$ports/;

    return "$directive $self->{server}{options}";
}


# the server goes, with all that it has

sub cleanup {
    my ($self) = @_;

    for my $dbh (grep { $_ } delete @$self{qw(dbh admin)},
                 map { delete $_->{dbh} } @{$self->{others}})
    {
        eval { $dbh->disconnect };
    }

    unlink $self->{password_file};
}


# after the server was away

sub reconnect {
    my ($self) = @_;

    $self->{dbh} = SubmissionStore::Postgres::_connect($self->{database});
    $self->{admin} = SubmissionStore::Postgres::_connect('postgres');
}


1;
