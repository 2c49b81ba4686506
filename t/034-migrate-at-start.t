# A file of this release, with an intent in every state, is there when a module of a
# made-up version 2 starts: it is migrated, its intents are answered as ever, and a
# copy is kept, unless "migrate_backup=off" (G18).  The module becomes one of version 2
# by t/tools/next_schema.c.
#
# Breaks when a worker that comes second fails, when the directive is not obeyed,
# or when something of version 1 cannot be read.

use lib 't/lib';
use SubmissionNeeds 'no_checker';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use File::Path qw(make_path);
use File::Temp qw(tempdir);

workers(2);

my $dir = tempdir('next.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);

my $include = join ' ', map { "-I$_" } glob 'src/core/* src/store src/store/*/';

for my $command ("t/schema/next.pl $dir/sql",
                 "sh src/store/sqlite/sm_sql_embed.sh $dir/sql/sqlite $dir/sm_sqlite_sql.h",
                 "cc -shared -fPIC $include -I$dir -o $dir/next.so t/tools/next_schema.c")
{
    system($command) == 0 or die "$command failed\n";
}

# a worker of another user reads it

chmod(0755, $dir) or die "chmod: $!\n";

# with that value Test::Nginx starts nginx

$Test::Nginx::Util::ld_preload = "$dir/next.so";

sub make_v1 {
    my $file = store()->file;

    make_path(store()->dir);

    for my $sql (qw(sql/sqlite/schema.sql t/schema/kept.sql)) {
        system("sqlite3 -bail '$file' < $sql") == 0 or die "$sql failed\n";
    }

    system('chmod', '-R', 'a+rwX', store()->dir) == 0 or die "chmod failed\n";
}

sub is_migrated {
    ok(wait_for(sub {
        http('GET /readyz')->{body} =~ / store=up\n\z/;
    }), 'the store is up');

    is(sql('SELECT group_concat(version) FROM submission_schema'), 2,
       'of version 2');

    my %status = ('pending-new' => 'pending', accepted => 'accepted',
                  'in-doubt' => 'pending', rejected => 'rejected',
                  'exhausted-once' => 'exhausted');

    for my $id (sort keys %status) {
        like(http("GET /v1/intents/$id")->{body},
             qr/"status":"$status{$id}"/, "$id is $status{$id}");
    }

    is(scalar(() = http('GET /v1/intents?limit=100')->{body} =~ /"intentId"/g),
       12, 'all are in the list');
}

run_tests();

__DATA__

=== TEST 1: a copy is kept
--- only: sqlite a server is migrated by install.sh
--- manager
        lease_name kept;
--- post_setup_server_root
package main;
make_v1();
--- client eval
sub {
    is_migrated();
    ok(-s store()->file . '.v1', 'there is a copy');
    is(`sqlite3 '@{[store()->file]}.v1' 'SELECT version FROM submission_schema'`,
       "1\n", 'of version 1');
}



=== TEST 2: without a copy
--- only: sqlite a server is migrated by install.sh
--- block
        lease_name kept;
        store sqlite data/submission.db migrate_backup=off;
--- post_setup_server_root
package main;
make_v1();
--- client eval
sub {
    is_migrated();
    ok(!-e store()->file . '.v1', 'there is none');
}
