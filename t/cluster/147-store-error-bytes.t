# The last error of the store is in every view and in the feed.  It may have the
# bytes of a path, or of a driver, that are not UTF-8, and line feeds: the views
# are JSON all the same.
#
# Goes red when: an error is shown as it came.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use SubmissionNeeds 'no_store';

use JSON::PP;
use Test::More;

use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my $path = "$cluster->{dir}/d\xe4t\xc3\xa4.db";

open(my $file, '>', $path) or die "$path: $!";
print $file 'this is no database ' x 1000;
close $file or die "$path: $!";

my $instance = $cluster->instance('a', store => "sqlite $path",
    server => 'location /o/ { submission_api main access=operate; }');

$instance->spawn;

my %views;

wait_for('the store is down', sub {
    for my $view (qw(overview targets stats events)) {
        $views{$view} = eval { fetch($instance, 'GET', "/o/$view")->{body} }
                        // '';
    }

    $views{overview} =~ /"state":"down"/ && $views{events} =~ /store_down/;
}, 10 * slow());

for my $view (sort keys %views) {
    my $json = eval { JSON::PP->new->utf8->decode($views{$view}) };

    ok($json, "$view is JSON") or diag($@);
    next if !$json || $view eq 'events';

    like($json->{store}{lastError}, qr{/d\?t\xe4\.db: \w},
         'with the error');
}

$instance->kill_group;
$instance->wait_gone;
$cluster->{ok} = 1;
done_testing();
