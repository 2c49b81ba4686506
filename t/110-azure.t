# contrib/azure/: what the scripts name is there, and they call what they should.
#
# Nobody has run them against Azure.  So stand-ins for az and sqlcmd write down how
# they are called, the directive that is printed goes through "nginx -t", and the
# schema that would be installed is looked for what user.sql grants.  PowerShell is
# not here; its script is read, and must name the same things.
#
# Goes red when: a file, a role or an option is renamed and the scripts are not; a
# password gets into them; a resource group of somebody else's would be used, or
# removed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionNeeds 'no_store';

my $top = realpath("$FindBin::Bin/..");
my $azure = "$top/contrib/azure";
my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $module = $ENV{SUBMISSION_MODULE}
             // "$top/build/ngx_http_submission_module.so";
my $dir = tempdir('azure.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);

use constant OBJECT_ID => '11111111-2222-3333-4444-555555555555';


sub slurp {
    my ($file) = @_;

    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    return scalar(<$in>) // '';
}

sub spew {
    my ($file, $text, $mode) = @_;

    open my $out, '>', $file or die "$file: $!\n";
    print $out $text;
    close $out;
    chmod $mode // 0644, $file;
}


# az and sqlcmd: $dir/calls has a line for each call; $dir/tag is the group's tag,
# if there is a group.  Files that sqlcmd runs are kept.

mkdir "$dir/bin";

spew("$dir/bin/az", <<"END", 0755);
#!/bin/bash
printf 'az' >> $dir/calls; printf ' %q' "\$@" >> $dir/calls; echo >> $dir/calls
case "\$*" in
    'account show '*) echo sub-1 ;;
    'ad signed-in-user show --query id'*) echo 99999999-0000-0000-0000-000000000000 ;;
    'ad signed-in-user show '*) echo me\@example.com ;;
    'group exists '*) [ -e $dir/tag ] && echo true || echo false ;;
    'group show '*) cat $dir/tag ;;
    'group create '*) echo submission-contrib > $dir/tag ;;
    'group delete '*) rm $dir/tag ;;
    'identity show '*'--query id '*) echo /subscriptions/sub-1/id ;;
    'identity show '*) echo ${\OBJECT_ID} ;;
    'sql server show '*) echo contoso.database.windows.net ;;
esac
END

spew("$dir/bin/sqlcmd", <<"END", 0755);
#!/bin/bash
printf 'sqlcmd' >> $dir/calls; printf ' %q' "\$@" >> $dir/calls
echo >> $dir/calls
while [ \$# -gt 0 ]; do
    [ "\$1" != -i ] || cat "\$2" > $dir/sql.\$((++n))."\$(ls $dir | wc -l)"
    shift
done
END

sub run {
    my ($script, @args) = @_;

    spew("$dir/calls", '');
    unlink glob "$dir/sql.*";

    local $ENV{PATH} = "$dir/bin:$ENV{PATH}";
    my $said = `$azure/$script @args 2>&1 < /dev/null`;

    return { said => $said, status => $? >> 8, calls => slurp("$dir/calls"),
             sql => [map { slurp($_) } sort glob "$dir/sql.*"] };
}

my @make = qw(make.sh --group g1 --region westeurope --server contoso);


# a new one

my $made = run(@make, '--allow here=192.0.2.7 --allow net=192.0.2.8-192.0.2.9',
               '--vm v1 --vm-group web');

is($made->{status}, 0, 'make.sh') or diag($made->{said});

like($made->{calls}, qr/$_/, "it calls $_") for (
    qr/^az group create --name g1 .*made-by=submission-contrib/m,
    qr/^az sql server create .*--enable-ad-only-auth /m,
    qr/--minimal-tls-version 1\.2 /,
    qr/--external-admin-sid 99999999-0000/,
    qr/firewall-rule create .*here --start-ip-address 192\.0\.2\.7 \S+ 192\.0\.2\.7 /,
    qr/firewall-rule create .*net --start-ip-address 192\.0\.2\.8 \S+ 192\.0\.2\.9 /,
    qr/^az sql db create .*--name submission /m,
    qr/^az identity create .*--name submission-nginx /m,
    qr/^az vm identity assign --resource-group web --name v1 /m,
    qr/^sqlcmd -b .*ActiveDirectoryAzCli -v identity=submission-nginx object_id=\S+ /m,
);

unlike($made->{calls}, qr/^az (?!account|ad )(?!.*--subscription sub-1)/m,
       'each in the subscription');
unlike($made->{calls}, qr/--admin-(?:user|password)| -P |\b0\.0\.0\.0\b/,
       'no password, and not all of Azure');

my ($schema, $user) = @{$made->{sql}};

is(scalar @{$made->{sql}}, 2, 'two scripts of SQL');
is($schema, `$top/sql/install.sh print mssql`, 'the schema as it is');

my @roles = $user =~ /ALTER ROLE (\w+) ADD MEMBER/g;

is("@roles", 'submission_nginx', 'one role');
like($schema, qr/CREATE ROLE $_;/, "there is a role $_") for @roles;
like($schema, qr/GRANT EXECUTE ON OBJECT::submission\.\w+ TO submission_nginx;/,
     'which may call the procedures');
like($user, qr/FROM EXTERNAL PROVIDER\s+WITH OBJECT_ID = '\$\(object_id\)'/,
     'the user is that of the identity');

my @variables = do { my %seen; grep { !$seen{$_}++ } $user =~ /\$\((\w+)\)/g };

like($made->{calls}, qr/ $_=/, "the variable $_ is given") for @variables;
unlike($schema, qr/\$\(/, 'the schema has none');


# what is printed is a directive

my ($store) = $made->{said} =~ /^(store odbc .*)$/m;

like($store, qr/=tcp:contoso\.database\.windows\.net,1433;/, 'the server');
like($store, qr/;UID=${\OBJECT_ID};Authentication=ActiveDirectoryMsi;/,
     'the identity');
like($store, qr/;Encrypt=yes;TrustServerCertificate=no/, 'the certificate');
unlike($store, qr/PWD|password|\@/i, 'no password, nothing left to fill in');

my $load = $module ? "load_module $module;" : '';

mkdir "$dir/logs";
spew("$dir/nginx.conf", <<"END");
$load
error_log stderr;
pid $dir/nginx.pid;
events {}
http {
    submission_manager main {
        $store
        target sms { gateway_type http; gateway_url http://127.0.0.1:9;
                     policy one_shot; }
    }
    server { listen 127.0.0.1:1; location /v1/ { submission_api main; }
             location = /_dispatch { internal; submission_dispatch main;
                                     proxy_pass \$submission_gateway_url; } }
}
END

my $tested = `$nginx -t -p $dir -c $dir/nginx.conf 2>&1`;

like($tested, qr/syntax is ok/, 'nginx takes it') or diag($tested);


# again; and what is not ours

is(run(@make)->{status}, 0, 'it may run again');

spew("$dir/tag", "somebody\n");

my $refused = run(@make);

isnt($refused->{status}, 0, 'a group of another origin is refused');
unlike($refused->{calls}, qr/ create /, 'and nothing is made in it');

$refused = run('remove.sh --group g1 --yes');

isnt($refused->{status}, 0, 'nor is it removed');
unlike($refused->{calls}, qr/ delete /, 'at all');
ok(-e "$dir/tag", 'it is there');

for my $bad ('--server "a;b"', '--database "x]"', '--identity "a\'b"',
             '--allow all', '--admin-type Robot', '--sku', '--nonsense 1')
{
    my $answer = run(@make, $bad);

    isnt($answer->{status}, 0, "$bad is refused");
    is($answer->{calls}, '', 'before anything is done');
}


# the end

spew("$dir/tag", "submission-contrib\n");

isnt(run('remove.sh --group g1')->{status}, 0, 'without an answer nothing goes');
ok(-e "$dir/tag", 'it is there');
is(run('remove.sh --group g1 --yes')->{status}, 0, 'then it is removed');
ok(! -e "$dir/tag", 'and gone');
is(run('remove.sh --group g1 --yes')->{status}, 0, 'a second time, too');


# PowerShell: the same names

my $ps = slurp("$azure/Make.ps1");

for my $file ($ps =~ m{'([\w./]+\.(?:sh|sql|conf))'}g) {
    ok(-e "$top/$file" || -e "$azure/$file", "Make.ps1: there is $file");
}

like($ps, qr/$_/, "Make.ps1 has $_")
    for qw(-EnableActiveDirectoryOnlyAuthentication submission-contrib user\.sql),
        'install\.sh', map { "\"$_=|, \"$_=" } @variables;
like($ps, qr/'\@$_\@'/, "Make.ps1 fills $_ in")
    for slurp("$azure/store.conf") =~ /\@(\w+)\@/g;
unlike($ps, qr/SqlAdministratorCredentials|-Password|-Credential\b/,
       'Make.ps1: no password');
like(slurp("$azure/Remove.ps1"), qr/'made-by'\] -ne 'submission-contrib'/,
     'Remove.ps1 looks at the tag');

for my $file (glob "$azure/*.ps1") {
    my $text = slurp($file);
    my $code = $text =~ s/<#.*?#>|^\s*#.*?$//msgr =~ s/'[^']*'|"[^"]*"//gr;

    for my $pair (['{', '}'], ['(', ')'], ['[', ']']) {
        my @n = map { my $c = $_; scalar(() = $code =~ /\Q$c\E/g) } @$pair;
        is($n[0], $n[1], "$file: as many @$pair");
    }
}

like(slurp("$top/docs/howto/azure-sql.md"), qr/have not been run/,
     'the how-to says that nobody has run them');

done_testing();
