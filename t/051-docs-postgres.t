# docs/: what they say of PostgreSQL, on a PostgreSQL.
#
# Somebody who restores a database, or who ends a lease by hand, copies SQL from
# the documents and has no second try.  So every psql, createdb and install.sh
# command of the documents, and every block of SQL marked "sql postgres", is run
# as it stands, but for the server's address and the database's name; and the
# "store" directive of howto/postgresql.md takes an intent.
#
# Goes red when: a command has a wrong argument, or SQL a column that there is
# not; the login of the how-to may not do what nginx does, or may do more; the
# SQL of a restore leaves the epoch, or a one_shot intent, as it was.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use DBI;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(sleep time);

use SubmissionPorts qw(free_port);
use SubmissionStore;

my $string = SubmissionStore::string() // '';

plan skip_all => 'a test of PostgreSQL' if $string !~ /\bdbname=/;

my %at = map { split /=/, $_, 2 } split ' ', $string;

my $top = realpath("$FindBin::Bin/..");
my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $module = $ENV{SUBMISSION_MODULE}
             // "$top/build/ngx_http_submission_module.so";
my $dir = tempdir('docs.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);
my $name = "submission_t${$}_docs";
my $patience = $ENV{SUBMISSION_CHECK} ? 120 : 60;
my $started;

chmod 0755, $dir;
chdir $top or die "$top: $!\n";

$ENV{PGPASSWORD} = $at{password};
$ENV{PGPORT} = $at{port};

sub admin {
    my $database = shift;

    return DBI->connect("dbi:Pg:host=$at{host};port=$at{port};"
                        . "dbname=$database", $at{user}, $at{password},
                        { RaiseError => 1, PrintWarn => 0 });
}

sub stop {
    kill QUIT => $started if $started;
    wait_for('the end of nginx', sub { !kill 0, $started }) if $started;
    $started = 0;
}

END {
    my $status = $?;

    if ($name && $string =~ /\bdbname=/) {
        stop();
        my $dbh = admin($at{dbname});
        $dbh->do("DROP DATABASE IF EXISTS $name WITH (FORCE)");
        $dbh->do("DROP ROLE IF EXISTS ${name}_nginx");
    }

    $? = $status;
}

sub slurp {
    my $file = shift;

    open my $in, '<:raw', $file or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

sub spew {
    my ($file, $text) = @_;

    open my $out, '>:raw', $file or die "$file: $!\n";
    print $out $text;
    close $out or die "$file: $!\n";
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


# the blocks, in the order of their files

my @blocks;

for my $doc (split /\n/, `find docs -name '*.md' | sort`) {
    my $text = slurp($doc);

    while ($text =~ /^([ ]*)<!--\ test:\ ([^>]*?)\ -->\n\1
                     ```(\w*)\n(.*?)^\1```$/msgx)
    {
        my ($indent, $marker, $language, $body) = ($1, $2, $3, $4);
        my $line = 1 + substr($text, 0, $-[0]) =~ tr/\n//;

        $body =~ s/^\Q$indent\E//mg;
        push @blocks, { doc => $doc, where => "$doc:$line",
                        marker => $marker, body => $body };
    }
}

# a command may go on in the lines after it

sub commands {
    my $body = shift;

    my ($command, @commands) = '';

    for my $line (split /^/, $body) {
        $command .= $line;
        spew("$dir/command.sh", $command);

        if ($command !~ /\\\n\z/
            && system("bash -n $dir/command.sh 2>/dev/null") == 0)
        {
            push @commands, $command;
            $command = '';
        }
    }

    return @commands;
}

# the test's server and database in the place of those of the documents

sub here {
    my $command = shift;

    $command =~ s/-h db1 -U postgres\b/-h $at{host} -U $at{user}/g;
    $command =~ s/ -d submission\b/ -d $name/g;
    $command =~ s/^(createdb .*) submission$/$1 $name/mg;
    $command =~ s/CREATE ROLE nginx\b/CREATE ROLE ${name}_nginx/g;
    $command =~ s/\bsubmission_nginx_submission\b/submission_nginx_$name/g;
    $command =~ s{/etc/nginx/}{$dir/}g;

    return $command;
}

sub run {
    my ($where, $command) = @_;

    $command = here($command);
    spew("$dir/command.sh", "set -e\n$command");

    my $said = `bash $dir/command.sh 2>&1`;

    is($?, 0, "$where: " . (split /\n/, $command)[0])
        or diag("$command\n$said");
    unlike($said, qr/ERROR|FATAL/, 'and without an error') or diag($said);

    return $said;
}


# the how-to first: it makes the database

my $howto = 'docs/howto/postgresql.md';
my ($setup) = grep { $_->{doc} eq $howto && $_->{marker} eq 'sh' } @blocks;

run($setup->{where}, $_) for commands($setup->{body});

is((stat "$dir/submission.pw")[2] & 07777, 0600, 'the password is a secret');


# nginx as the how-to says

my ($store) = grep { $_->{doc} eq $howto && $_->{marker} =~ /password/ }
              @blocks;

(my $directive = $store->{body}) =~ s/host=db1/host=$at{host} port=$at{port}/;

$directive =~ s/dbname=submission/dbname=$name/;
$directive =~ s/user=nginx/user=${name}_nginx/;
$directive =~ s/ sslmode=verify-full sslrootcert=[^"\s]+//
    or die "the store is not verified\n";
$directive =~ s{/etc/nginx/}{$dir/}g;

my $port = free_port();

my $load = $module ? "load_module $module;" : '';
my $user = $> == 0 ? 'user root;' : '';

make_path("$dir/tmp", "$dir/logs");

spew("$dir/nginx.conf", <<"END");
$load
$user
pid nginx.pid;
error_log logs/error.log notice;
events {}
http {
    access_log off;
    client_body_temp_path tmp/body; proxy_temp_path tmp/proxy;
    fastcgi_temp_path tmp/fastcgi; uwsgi_temp_path tmp/uwsgi;
    scgi_temp_path tmp/scgi;
    submission_manager main {
        $directive
        acquire_interval 1s;
        target later {
            gateway_type http; gateway_url http://127.0.0.1:9;
            policy one_shot;
        }
        executor off;
    }
    server {
        listen 127.0.0.1:$port;
        location /v1/ { submission_api main; }
        location = /readyz { submission_readyz main; }
    }
}
END

is(system("$nginx -p $dir/ -c nginx.conf -e $dir/logs/error.log"), 0,
   'nginx starts');

$started = wait_for('a pid', sub {
    -s "$dir/nginx.pid" && slurp("$dir/nginx.pid") + 0
});

sub curl { return scalar `curl -s -m 30 http://127.0.0.1:$port@_` }

ok(wait_for('the store', sub { curl('/readyz') =~ /store=up/ }),
   'the login of the how-to is good enough');
like(curl("/v1/intents -H 'Content-Type: application/json' -d "
          . q('{"intentId":"a","submissionTarget":"later"}')),
     qr/"status":"pending"/, 'an intent is taken');

{
    my $secret = slurp("$dir/submission.pw");
    chomp $secret;
    my $said = `PGPASSWORD='$secret' psql -X -h $at{host} -U ${name}_nginx -d $name \\
        -c 'SELECT count(*) FROM submission.submission_intents' 2>&1`;
    like($said, qr/permission denied/, 'and for nothing else');
}

stop();


# everything else, each command by itself

my $dbh = admin($name);

$dbh->do("INSERT INTO submission.submission_manager_leases (lease_name, "
         . "holder_id, lease_epoch, acquired_at, renewed_at, expires_at) VALUES "
         . "('submission-manager-executor', 'x', 7, now(), now(), "
         . "now() + interval '1 day')");

my $n = 0;

for my $b (grep { $_ != $setup && $_->{marker} eq 'sh' } @blocks) {
    for my $command (commands($b->{body})) {
        next if $command !~ m{^(?:psql|createdb|sql/install\.sh postgres) };
        run($b->{where}, $command);
        $n++;
    }
}

cmp_ok($n, '>=', 5, 'and there are some');

is($dbh->selectrow_array('SELECT expires_at <= now() FROM '
                         . 'submission.submission_manager_leases'), 1,
   'the lease of 3am/nobody-leads.md has ended');

$n = 0;

for my $b (grep { $_->{marker} =~ /^sql postgres/ } @blocks) {
    spew("$dir/block.sql", $b->{body});
    run($b->{where}, "psql -X -q -v ON_ERROR_STOP=1 -h db1 -U postgres "
                     . "-d submission -f $dir/block.sql");
    $n++;
}

cmp_ok($n, '>=', 2, 'and there are some');

is($dbh->selectrow_array('SELECT lease_epoch FROM '
                         . 'submission.submission_manager_leases'), 1000007,
   'a restore raises the epoch');
is($dbh->selectrow_array('SELECT status || exhausted_reason FROM '
                         . 'submission.submission_intents'),
   'exhaustedoutcome_unknown', 'and ends what is one_shot');

$dbh->disconnect;

is(`grep -hE '\\[(alert|crit|emerg)\\]' $dir/logs/error.log`, '',
   'nothing in the error log');

done_testing();
