# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Options and verbs as users type them, and the messages for wrong ones.
kymo -V
kymo help summary | sed -n 1p
kymo help | sed -n 1p
kymo help help
echo "exit $?"
kymo help recrod
kymo help record x
kymo smmary x
kymo --versoin
# Without a verb, and with a file instead of one.
kymo 2>&1 | tail -4
cp "$G/profile.fxt" t.fxt
kymo t.fxt
printf '#!/bin/sh\n' >script
chmod 755 script
mkdir programs
kymo ./script
kymo script
kymo ./programs
kymo record -p sshd
for option in --duraton=1 --pids=1 --outptu=x --evnets=sched --frequncy=9 --mem --force=1 --nothing-like-it -q; do
	kymo record "$option"
done
kymo summary --jsno x
kymo status --jsno
kymo snapshot --rason=x
kymo record -e default,offcup
kymo record -e nothing-like-it
# All words before the last one are accepted.
kymo record --duration 1 --pid 1 --output x --events default,offcpu,all --frequency 9 --buffer 1M --comm 123456789012345 x
kymo start name --duration 1 --comm 1234567890123456
echo "exit $?"
# /dev/null may be overwritten.
cp "$G/profile.fxt" a.fxt
kymo flame a.fxt --format folded -o /dev/null
echo "exit $?"
kymo export a.fxt --format fxt -o - >/dev/null
echo "exit $?"
