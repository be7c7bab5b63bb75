#!/usr/bin/perl
# Runs a server for make. Ctrl-C signals the terminal's whole foreground group, and a make in that group dies of the
# signal whatever its recipe answers. So the server gets the foreground in a group of its own, as a shell would give it:
# Ctrl-C reaches the server alone, and make ends with the server's own status. Perl, since neither Node nor a waiting
# shell can hand over a terminal and still pass on a signal that was sent and not typed.
use strict;
use warnings;
use POSIX qw(WUNTRACED setpgid tcgetpgrp tcsetpgrp);

my $group = getpgrp;

sub in_foreground { return -t STDIN && tcgetpgrp(0) == $group }

# Without a terminal, or in the background, nobody types Ctrl-C.
if (!in_foreground()) { exec @ARGV or die "$ARGV[0]: $!\n" }

$SIG{TTOU} = 'IGNORE';
my $server = fork // die "fork: $!\n";
if ($server == 0) {
  setpgid(0, 0);
  tcsetpgrp(0, $$);
  $SIG{TTOU} = 'DEFAULT';
  exec @ARGV or die "$ARGV[0]: $!\n";
}
setpgid($server, $server);

for my $name (qw(INT TERM HUP)) {
  $SIG{$name} = sub { kill $name, -$server };
}
$SIG{CONT} = sub {
  tcsetpgrp(0, $server) if in_foreground();
  kill 'CONT', -$server;
};

while (1) {
  my $changed = waitpid $server, WUNTRACED;
  next if $changed < 0 && $!{EINTR};
  last if !kill 0, $server;
  # It is still there, so Ctrl-Z has stopped it. This group stops as well, and the user's shell has the terminal back
  # until its `fg` or `bg`.
  tcsetpgrp(0, $group);
  kill 'STOP', 0;
}

my $status = $?;
tcsetpgrp(0, $group) if tcgetpgrp(0) == $server;
exit(($status & 127) ? 128 + ($status & 127) : $status >> 8);
