package SubmissionConsole;

# What the tests of the console share: a pair of instances with a console each,
# to act and to look, and what holds of any page.
#
#   my ($run, $leader, $follower) = pair();
#   my $browser = browser($run);
#   visit($browser, $leader, '#/targets', qr/sms\.realtime/);
#   fit($browser, 'targets');
#   finish($run, $browser);

use strict;
use warnings;

use Exporter qw(import);
use List::Util qw(max);
use Test::More;
use Time::HiRes qw(time);

use SubmissionBrowser;
use SubmissionCluster;
use SubmissionPace qw(busy);

our @EXPORT = qw(pair browser fake unfake visit at fit same_text rounds
                 asked_within shows finish @pages);

our @pages = qw(overview targets intents failures jobs webhooks schedules events audit
                config);

my $top = $SubmissionCluster::top;

# what a page says is not ASCII, nor are the names of checks that quote it

binmode(Test::More->builder->$_, ':encoding(UTF-8)')
    for qw(output failure_output todo_output);


# Options are those of SubmissionCluster::Executor, and "before": what is done with
# the run before its instances start.

sub pair {
    my (%options) = @_;

    my $before = delete $options{before};
    my $root = $ENV{SUBMISSION_CONSOLE_ROOT}
               ? "root=$ENV{SUBMISSION_CONSOLE_ROOT}" : '';

    # nobody is to lose the lease because the machine is busy

    my $run = SubmissionCluster::Executor->new(
        instances => ['a', 'b'], refresh => '200ms', lease => '20s',
        renew => '1s', %options,
        instance => { zone => '8m', manager => $options{manager} // '', server =>
            "location /console/ { submission_console main access=operate $root; "
            . 'submission_actor $http_x_nobody; } '
            . "location /look/ { submission_console main $root; }" });

    $before->($run) if $before;

    my $leader = $run->start;
    my ($follower) = grep { $_ != $leader } $run->instances;

    return ($run, $leader, $follower);
}


sub browser {
    my ($run, %options) = @_;

    my $browser = SubmissionBrowser->new($run->cluster->{dir}, %options);

    # before any script of the page: what the policy refused, and what is asked
    # (the browser's own list of that ends after 250)

    $browser->tools('Page.addScriptToEvaluateOnNewDocument', source => <<'END');
        addEventListener("securitypolicyviolation", (e) =>
            console.error("policy: " + e.violatedDirective + " " + e.blockedURI));
        const ask = window.fetch;
        window.asked = { begun: 0, ended: 0, rounds: 0 };
        window.fetch = (path, options) => {
            asked.begun++;
            asked.rounds += /overview$/.test(path);
            return ask(path, options).finally(() => asked.ended++);
        };
END

    return $browser;
}


# What the instance answers is changed before the page gets it: to a request
# whose method and path match, such as "GET overview$", a function of JavaScript
# gets the data, if it has a parameter, and gives other data, or a Response.  It
# holds for pages that are opened from now on, until unfake().

sub fake {
    my ($browser, %answers) = @_;

    my $list = join ",\n", map { "[/$_/, $answers{$_}]" } sort keys %answers;

    push @{$browser->{fakes}}, $browser->tools('Page.addScriptToEvaluateOnNewDocument',
                                               source => <<"END")->{identifier};
        {
            const ask = window.fetch;
            const fakes = [$list];
            window.fetch = async (path, options) => {
                const name = (options.method || 'GET') + ' ' + path.replace('api/v1/', '');
                const [, make] = fakes.find(([like]) => like.test(name)) || [];
                if (!make) {
                    return ask(path, options);
                }
                const answer = make.length ? await ask(path, { ...options, headers: {} }) : null;
                if (answer && !answer.ok) {
                    return answer;
                }
                const made = make(answer && await answer.json());
                return made instanceof Response ? made
                    : new Response(JSON.stringify(made), { headers: { Date: new Date().toUTCString() } });
            };
        }
END
}


sub unfake {
    my ($browser) = @_;

    $browser->tools('Page.removeScriptToEvaluateOnNewDocument', identifier => $_)
        for splice @{$browser->{fakes} // []};
}


# how often the page has asked for what each round asks for

sub rounds { return $_[0]->run('return asked.rounds') }


# what is asked of the instance from now on, in so many milliseconds after what
# is under way has ended

sub asked_within {
    my ($browser, $ms) = @_;

    return $browser->run_async(<<'END', $ms);
        const [ms, done] = arguments;
        let still = 0;
        const settle = setInterval(() => {
            still = asked.begun === asked.ended ? still + 1 : 0;
            if (still === 10) {
                clearInterval(settle);
                const begun = asked.begun;
                setTimeout(() => done(asked.begun - begun), ms);
            }
        }, 50);
END
}


sub at {
    my ($instance, $hash, $location) = @_;

    $location //= 'console';

    return "http://127.0.0.1:$instance->{port}/$location/$hash";
}


sub visit {
    my ($browser, $instance, $hash, $like, $location) = @_;

    $browser->open('about:blank');
    $browser->open(at($instance, $hash, $location));
    $browser->wait_has('main h1');

    return $browser->wait_text('main', $like);
}


# What a part of the page says within the ten seconds of G22, of something that broke
# at that time, or now.  A machine that has more to do than processors has as much
# longer, and no other: what was measured is in one table at the end.  A picture of it
# is in the directory that SUBMISSION_PICTURES names.

use constant SOON => 10;    # seconds

my @measured;

sub shows {
    my ($browser, $name, $selector, $like, $broke) = @_;

    $broke //= time;

    my $busy = busy();
    my $text = eval { $browser->wait_text($selector, $like, SOON) };
    my $took = time - $broke;

    $busy = max($busy, busy());
    ok(defined $text, "$name: the page says it")
        or diag($@);
    cmp_ok($took, '<=', SOON * pace() * $busy, sprintf '%s: after %.1f s', $name, $took);
    push @measured, sprintf '%6.1f s  %s%s%s', $took, $name, defined $text ? '' : ', in vain',
                            $busy > 1 ? sprintf ' (%.1f times as much to do as processors)', $busy : '';
    note($name, ': ', ($text // '') =~ s/\s+/ /gr);

    $browser->picture("$ENV{SUBMISSION_PICTURES}/" . $name =~ tr/a-z0-9/-/csr . '.png')
        if $ENV{SUBMISSION_PICTURES};

    return $text // '';
}


# the text is there as it was posted, and became nothing else

sub same_text {
    my ($browser, $text) = @_;

    return $browser->run('const has = (el) => el.textContent === arguments[0];
        return [...document.querySelectorAll("bdi")].filter(has).length', $text);
}


# Contrast as WCAG has it, of all text that is seen; AA: 4.5, and 3 if it is
# large.  Answers what has less.

my $contrast = <<'END';
    const rgb = (text) => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return { r, g, b, a };
    };
    const over = (top, back) => ({
      r: top.r * top.a + back.r * (1 - top.a),
      g: top.g * top.a + back.g * (1 - top.a),
      b: top.b * top.a + back.b * (1 - top.a), a: 1 });
    const light = ({ r, g, b }) => {
      const [x, y, z] = [r, g, b].map((v) => {
        v /= 255;
        return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = (el) => {
      const list = [];
      for (let at = el; at; at = at.parentElement) {
        list.push(rgb(getComputedStyle(at).backgroundColor));
      }
      return list.reverse().reduce((back, top) => over(top, back),
                                   { r: 255, g: 255, b: 255, a: 1 });
    };
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const el = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || !el.checkVisibility()
          || el.closest('.unseen, .skip, :disabled, option')) continue;
      const style = getComputedStyle(el);
      const back = behind(el);
      const front = over(rgb(style.color), back);
      const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 600);
      if (ratio < (large ? 3 : 4.5)) {
        found.push(`${ratio.toFixed(2)} "${walk.currentNode.data.trim().slice(0, 30)}" ${el.className}`);
      }
    }
    return [...new Set(found)].join("\n");
END

# what may be wrong with any page: nothing of that is

sub fit {
    my ($browser, $name) = @_;

    is($browser->problems, '', "$name: no error, nothing refused");
    is($browser->run($contrast), '', "$name: the contrast");

    my $axe = axe($browser) or return;

    $browser->run_encoded($axe);

    my $found = $browser->run_async(
        'const done = arguments[arguments.length - 1];
         axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] })
            .then((r) => done(r.violations
                .filter((v) => v.impact === "serious" || v.impact === "critical")
                .map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", "))),
                  (e) => done([String(e)]));');

    is(join("\n", @$found), '', "$name: axe-core");
    $browser->problems;
}


# axe-core, which is not part of the repository: "make" gets it where there is npm

my $text;

sub axe {
    my ($browser) = @_;

    return $text if defined $text;

    $text = '';

    if (open my $in, '<:encoding(UTF-8)', "$top/build/axe/axe.min.js") {
        local $/;
        $text = $browser->encoded(<$in> . '; 1');
    } else {
        diag('axe-core is not there, and is left out');
    }

    return $text;
}


sub finish {
    my ($run, $browser) = @_;

    diag(join "\n", 'from what broke until the first screen said it:', @measured) if @measured;

    $browser->close;
    $run->done;
}


1;
