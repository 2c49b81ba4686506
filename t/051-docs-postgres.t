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

use SubmissionDocs qw(blocks commands slurp spew wait_for);
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
        $dbh->do("DROP ROLE IF EXISTS ${name}_$_") for qw(nginx a b);
    }

    $? = $status;
}


# the blocks, in the order of their files

my @blocks = map { blocks($_) } split /\n/, `find docs -name '*.md' | sort`;

# the test's server and database in the place of those of the documents

sub here {
    my $command = shift;

    $command =~ s/-h db1 -U postgres\b/-h $at{host} -U $at{user}/g;
    $command =~ s/ -d submission\b/ -d $name/g;
    $command =~ s/^(createdb .*) submission$/$1 $name/mg;
    $command =~ s/CREATE ROLE nginx\b/CREATE ROLE ${name}_nginx/g;
    $command =~ s/\bnginx_([ab])\b/${name}_$1/g;
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
my ($setup) = grep { $_->{doc} eq $howto && $_->{kind} eq 'sh' } @blocks;

run($setup->{where}, $_) for commands($setup->{body}, "$dir/command.sh");

is((stat "$dir/submission.pw")[2] & 07777, 0600, 'the password is a secret');


# nginx as the how-to says

my ($store) = grep { $_->{doc} eq $howto && $_->{words}{password} }
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

sub configure {
    my ($directive) = @_;

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
}

sub start {
    configure(@_);

    is(system("$nginx -p $dir/ -c nginx.conf -e $dir/logs/error.log"), 0,
       'nginx starts');

    $started = wait_for('a pid', sub {
        -s "$dir/nginx.pid" && slurp("$dir/nginx.pid") + 0
    });
}

start($directive);

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


# two logins that take turns

my @rotate = grep { $_->{kind} eq 'sh' && $_->{words}{rotate} } @blocks;

sub login {
    my ($login, $password) = @_;

    return eval {
        DBI->connect("dbi:Pg:host=$at{host};port=$at{port};dbname=$name",
                     "${name}_$login", $password,
                     { RaiseError => 1, PrintError => 0 })->disconnect;
    };
}

sub password { return slurp("$dir/${name}_$_[0].pw") =~ s/\n\z//r }

is(scalar @rotate, 3, 'the parts of a rotation');

run($rotate[0]{where}, $rotate[0]{body});

my $first = password('b');

ok(login('a', password('a')) && login('b', $first), 'both may log in');

run($rotate[1]{where}, $rotate[1]{body});

isnt(password('b'), $first, 'the other one has a new password');
ok(login('b', password('b')), 'which is good');
ok(!login('b', $first), 'and the old one is not');

# nginx goes from one to the other, in its configuration, while a client posts

sub as {
    my ($login) = @_;

    return $directive =~ s/user=\S+?(?=["\s])/user=${name}_$login/r
                      =~ s/password_file=[^;\s]+/password_file=$dir\/${name}_$login.pw/r;
}

sub connected {
    my ($login) = @_;

    my $dbh = admin($name);
    my ($n) = $dbh->selectrow_array('SELECT count(*) FROM pg_stat_activity WHERE usename = ?',
                                    undef, "${name}_$login");
    $dbh->disconnect;

    return $n;
}

start(as('a'));
ok(wait_for('the store', sub { curl('/readyz') =~ /store=up/ }), 'nginx logs in as the first');

my $client = fork // die "fork: $!\n";

if ($client == 0) {
    spew("$dir/post.sh", <<'END');
for ((n = 1; ; n++)); do
    curl -s -m 30 -o "$2.answer" -w '%{http_code}\n' -H 'Content-Type: application/json' \
         -d '{"intentId":"posted-'"$n"'","submissionTarget":"later"}' "$1" >> "$2"
    [ ! -e "$2.end" ] || exit 0
done
END
    exec 'bash', "$dir/post.sh", "http://127.0.0.1:$port/v1/intents", "$dir/posted";
}

sub posted { return -e "$dir/posted" ? split /\n/, slurp("$dir/posted") : () }

sub more {
    my $n = posted();
    wait_for('more of them', sub { posted() > $n + 20 });
}

for my $login (qw(b a b)) {
    more();
    configure(as($login));
    kill HUP => $started;

    my ($old) = grep { $_ ne $login } qw(a b);

    ok(wait_for('the change', sub { connected($login) && !connected($old) }),
       "$login is used, and $old is not any more");
    like(curl('/readyz'), qr/store=up/, 'and all is well');
}

more();

run($rotate[2]{where}, $rotate[2]{body});

more();
spew("$dir/posted.end", '');
waitpid $client, 0;

my @posted = posted();

cmp_ok(scalar @posted, '>', 80, scalar(@posted) . ' were posted meanwhile');
is_deeply([grep { $_ ne '200' } @posted], [], 'and each was answered 200');
stop();

ok(!login('a', password('a')), 'the old login is locked');


# everything else, each command by itself

my $dbh = admin($name);

$dbh->do("INSERT INTO submission.submission_manager_leases (lease_name, "
         . "holder_id, lease_epoch, acquired_at, renewed_at, expires_at) VALUES "
         . "('submission-manager-executor', 'x', 7, now(), now(), "
         . "now() + interval '1 day')");

my $n = 0;

for my $b (grep { $_ != $setup && $_->{kind} eq 'sh' && !$_->{words}{rotate} }
           @blocks)
{
    for my $command (commands($b->{body}, "$dir/command.sh")) {
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

for my $b (grep { $_->{kind} eq 'sql' && $_->{words}{postgres} } @blocks) {
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
