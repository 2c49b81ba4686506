package SubmissionBrowser;

# A real Chromium, driven over the WebDriver protocol of chromedriver.
#
#   my $browser = SubmissionBrowser->new($dir, width => 1280);
#   $browser->open("http://127.0.0.1:$port/console/#/targets");
#   $browser->wait_text('main', qr/sms\.realtime/);
#   $browser->click('button[aria-label="Pause sms.realtime"]');
#   is($browser->problems, '', 'nothing is wrong with the page');
#
# Selectors are those of CSS; text is characters, not bytes.  What the page
# wrote to its console since the last look, violations of its policy among it,
# is problems(), but for lines that match what expect() was told.
#
# Options: width, height, dark.  The browser ends with the object.
#
# Waits are long, a minute and more on a busy machine: what is right comes in a
# second, and a browser that has to share its processor with ten others is slow.

use strict;
use warnings;

use File::Path qw(make_path);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use Time::HiRes qw(sleep time);

use SubmissionCluster;

my $json = JSON::PP->new->utf8->allow_nonref;

# of WebDriver: keys that have no character, and how an element is named

our %keys = (Enter => "\x{e007}", Escape => "\x{e00c}", Tab => "\x{e004}",
             Space => ' ');

use constant ELEMENT => 'element-6066-11e4-a52e-4f735466cecf';

use constant { WAIT => 60, CALL => 180 };   # seconds


sub new {
    my ($class, $dir, %options) = @_;

    make_path("$dir/browser");

    my $self = bless {
        dir => "$dir/browser", width => 1280, height => 900, %options,
        port => SubmissionCluster::free_port(), expected => [],
        http => HTTP::Tiny->new(timeout => CALL), owner => $$,
    }, $class;

    $self->_driver;
    $self->_session;
    $self->size($self->{width}, $self->{height});
    $self->media(dark => $options{dark});

    return $self;
}


sub _driver {
    my ($self) = @_;

    my $pid = fork // die "fork: $!";

    if ($pid == 0) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$self->{dir}/driver.log";
        open STDERR, '>&', \*STDOUT;

        $ENV{HOME} = $self->{dir};
        setpgrp;
        exec 'chromedriver', "--port=$self->{port}" or POSIX::_exit(1);
    }

    $self->{pid} = $pid;

    wait_for('the driver listens', sub {
        eval { $self->_call('GET', 'status')->{ready} };
    }, WAIT);
}


sub _session {
    my ($self) = @_;

    my $answer = $self->_call('POST', 'session', { capabilities => {
        alwaysMatch => {
            browserName => 'chrome',
            'goog:loggingPrefs' => { browser => 'ALL' },
            'goog:chromeOptions' => { args => [
                '--headless=new', '--no-sandbox', '--disable-gpu',
                '--disable-dev-shm-usage', '--hide-scrollbars',
                '--no-first-run', '--disable-background-networking',
                '--disable-component-update', '--disable-sync',
                '--force-color-profile=srgb', '--lang=en-US',
                "--user-data-dir=$self->{dir}/profile",
                "--window-size=$self->{width},$self->{height}",
            ] },
        } } });

    $self->{session} = "session/$answer->{sessionId}";

    $self->call('POST', 'timeouts', { map { $_ => 1000 * CALL } qw(script pageLoad) });
}


sub _call {
    my ($self, $method, $path, $body) = @_;

    return $self->_send($method, $path, $json->encode($body // {}));
}


sub _send {
    my ($self, $method, $path, $content) = @_;

    my $answer = $self->{http}->request($method,
        "http://127.0.0.1:$self->{port}/$path",
        $method eq 'POST' ? { content => $content } : {});
    my $value = eval { $json->decode($answer->{content})->{value} };

    if (!$answer->{success}) {
        my $why = ref $value ? $value->{message} : $answer->{content};
        die "$path: " . (split /\n/, $why // 'no answer')[0] . "\n";
    }

    return $value;
}


sub call {
    my ($self, $method, $path, $body) = @_;

    return $self->_call($method, "$self->{session}/$path", $body);
}


# A question to the browser costs it more than waiting for the answer costs us:
# twenty a second are enough.

sub wait_until {
    my ($self, $what, $condition, $seconds) = @_;

    my $next = 0;

    return wait_for($what, sub {
        return 0 if time < $next;

        my $value = $condition->();

        $next = time + 0.05;
        return $value;
    }, $seconds // WAIT);
}


# the protocol of Chromium's own developer tools

sub tools {
    my ($self, $command, %arguments) = @_;

    return $self->call('POST', 'goog/cdp/execute',
                       { cmd => $command, params => \%arguments });
}


sub size {
    my ($self, $width, $height) = @_;

    $self->tools('Emulation.setDeviceMetricsOverride', width => $width,
                 height => $height, deviceScaleFactor => 1,
                 mobile => JSON::PP::false);
}


sub media {
    my ($self, %features) = @_;

    $self->tools('Emulation.setEmulatedMedia', features => [
        { name => 'prefers-color-scheme',
          value => $features{dark} ? 'dark' : 'light' },
        { name => 'prefers-reduced-motion', value => 'reduce' }]);
}


sub open {
    my ($self, $url) = @_;

    $self->call('POST', 'url', { url => $url });
}


# what the body of a function answers, given arguments[0] and so on

sub run {
    my ($self, $script, @arguments) = @_;

    return $self->call('POST', 'execute/sync',
                       { script => $script, args => \@arguments });
}


# The same, of a long one that is run many times: what encoded() made of it.

sub encoded { return $json->encode({ script => $_[1], args => [] }) }

sub run_encoded { return $_[0]->_send('POST', "$_[0]{session}/execute/sync", $_[1]) }


# the same, of one that calls its last argument when it is done

sub run_async {
    my ($self, $script, @arguments) = @_;

    return $self->call('POST', 'execute/async',
                       { script => $script, args => \@arguments });
}


sub text {
    my ($self, $selector) = @_;

    return $self->run('const el = document.querySelector(arguments[0]);
                       return el ? el.innerText : null', $selector);
}


sub has {
    my ($self, $selector) = @_;

    return $self->run('return document.querySelectorAll(arguments[0]).length',
                      $selector);
}


sub wait_text {
    my ($self, $selector, $like, $seconds) = @_;

    my $text;

    eval {
        $self->wait_until("$selector has $like", sub {
            $text = $self->text($selector);
            defined $text && $text =~ $like;
        }, $seconds);
    } or die $@ . 'it has: ' . ($text // 'nothing') . "\n";

    return $text;
}


sub wait_has {
    my ($self, $selector, $seconds) = @_;

    $self->wait_until("there is $selector", sub { $self->has($selector) },
                      $seconds);
}


# what is seen of these is gone, or is another

sub wait_not {
    my ($self, $selector, $unlike, $seconds) = @_;

    $self->wait_until("$selector has no $unlike", sub {
        ($self->text($selector) // '') !~ $unlike;
    }, $seconds);
}


# by the words that are seen, as whoever looks would

sub press_text {
    my ($self, $within, $text) = @_;

    my $why;

    eval {
        $self->wait_until("\"$text\" can be clicked", sub {
            my $found = $self->run(
                'return [...document.querySelectorAll(arguments[0] + " a, "
                         + arguments[0] + " button")].find((el) =>
                     el.innerText.trim() === arguments[1] && !el.disabled
                     && el.checkVisibility()) || null', $within, $text)
                or return 0;

            eval { $self->call('POST', 'element/' . $found->{+ELEMENT} . '/click'); 1 }
                or do { $why = $@; 0 };
        });
    } or die $@ . ($why // '');
}


sub _element {
    my ($self, $selector) = @_;

    return $self->call('POST', 'element',
                       { using => 'css selector', value => $selector }
                      )->{+ELEMENT};
}


# as the mouse does: what is covered or not there yet is not clicked; a page
# that is made anew may take it away meanwhile

sub click {
    my ($self, $selector) = @_;

    my $why;

    eval {
        $self->wait_until("click $selector", sub {
            eval {
                $self->call('POST', 'element/' . $self->_element($selector)
                                    . '/click');
                1;
            } or do { $why = $@; 0 };
        });
    } or die $@ . ($why // '');
}


sub type {
    my ($self, $selector, $text) = @_;

    $self->wait_has($selector);
    $self->call('POST', 'element/' . $self->_element($selector) . '/value',
                { text => $text });
}


# to whatever has the focus

sub press {
    my ($self, @names) = @_;

    my @actions = map {
        my $key = $keys{$_} // $_;
        ({ type => 'keyDown', value => $key }, { type => 'keyUp', value => $key })
    } @names;

    $self->call('POST', 'actions', { actions => [
        { type => 'key', id => 'keyboard', actions => \@actions }] });
}


sub expect { push @{$_[0]{expected}}, $_[1] }


sub problems {
    my ($self) = @_;

    my $lines = $self->call('POST', 'se/log', { type => 'browser' });

    return join "\n", grep {
        my $line = $_;
        !grep { $line =~ $_ } @{$self->{expected}};
    } map { $_->{message} } grep { $_->{level} ne 'INFO' && $_->{level} ne 'DEBUG' }
      @$lines;
}


# PNG

sub picture {
    my ($self, $file) = @_;

    my $data = decode_base64($self->call('GET', 'screenshot'));

    CORE::open(my $out, '>', $file) or die "$file: $!\n";
    binmode $out;
    print $out $data;
    close $out;

    return length $data;
}


sub close {
    my ($self) = @_;

    my $pid = delete $self->{pid} or return;

    eval { $self->_call('DELETE', $self->{session}) } if $self->{session};

    kill 'TERM', -$pid;

    for (1 .. 100) {
        return if waitpid($pid, POSIX::WNOHANG()) != 0;
        sleep 0.05;
    }

    kill 'KILL', -$pid;
    waitpid $pid, 0;
}


sub DESTROY {
    my ($self) = @_;

    local ($?, $@);

    $self->close if $self->{owner} == $$;
}


1;
