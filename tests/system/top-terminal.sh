#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kymo top on a terminal: what it draws, keys, sizes, Ctrl-Z, and that the terminal is as it was on
# every way out.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command script stty
remember_bpf

# Runs `kymo top [option ...]` on a terminal of its own, whose keys are typed by `type_keys`. What
# the screen got is in $TMP/screen, the terminal's state before and after in $TMP/before and
# $TMP/after.
start_top() {
	# (a shell's background ignores SIGQUIT)
	rm -f "$TMP/keys" "$TMP/screen" "$TMP/before" "$TMP/after" "$TMP/pid" "$TMP/status"
	mkfifo "$TMP/keys"
	cat >"$TMP/run" <<-END
		stty rows 30 cols 100
		stty -g >"$TMP/before"
		bash -c 'echo \$\$ >"$TMP/pid"; exec env --default-signal=QUIT "\$@"' - "$KYMO" top --direct -i 200ms $*
		echo \$? >"$TMP/status"
		stty -g >"$TMP/after"
	END
	script -qfc "bash '$TMP/run'" "$TMP/screen" <"$TMP/keys" >/dev/null &
	SCRIPT_PID=$!
	exec {KEYS}>"$TMP/keys"
	expect_soon 20 test -s "$TMP/pid"
	TOP_PID=$(cat "$TMP/pid")
}

type_keys() {
	printf '%s' "$1" >&"$KEYS"
}

# screen_has REGEX: since the last `forget_screen`
SEEN=0
screen_has() {
	tail -c "+$((SEEN + 1))" "$TMP/screen" | grep -aqE -e "$1"
}

forget_screen() {
	SEEN=$(wc -c <"$TMP/screen")
}

# end_top STATUS: it has ended so, and left nothing behind on the terminal
end_top() {
	expect_soon 20 test -s "$TMP/after"
	assert_eq "$(cat "$TMP/status")" "$1" "exit status"
	exec {KEYS}>&-
	wait "$SCRIPT_PID" || true
	cmp "$TMP/before" "$TMP/after" || fail "the terminal is not as it was"
	tail -c +"$((SEEN + 1))" "$TMP/screen" | tr -d '\n' | grep -qaF $'\033[?7h\033[?25h\033[?1049l' ||
		fail "the screen was not given back"
	SEEN=0
}

note "what is drawn, and keys"
"$STACK_LOAD" chain 120000 >/dev/null &
load=$!
start_top
expect_soon 20 screen_has '[0-9] CPUs?, [0-9.]+% busy'
expect_soon 20 screen_has 'stack-load +stack-load +leaf_a'
expect_soon 20 screen_has 'PID    CPU  SWITCHES'
# shellcheck disable=SC2034
for key in t:'THREAD           PROCESS' p:'PROCESS          COMMAND' f:'MODULE +PROCESS' s:'sorted by switches' \
	s:'sorted by wait' h:'resident memory' x:'MODULE +PROCESS' '?:WAIT +time from' a:'PID    CPU'; do
	forget_screen
	type_keys "${key%%:*}"
	expect_soon 20 screen_has "${key#*:}"
done
# No view of functions alone has processes.
type_keys f
sleep 0.5
forget_screen
expect_soon 20 screen_has 'busy'
expect_soon 20 screen_has 'MODULE +PROCESS'
! screen_has 'PID    CPU' || fail "processes in the view of functions"
# Space stops: nothing is drawn but by keys.
type_keys ' '
expect_soon 20 screen_has '\(paused\)'
forget_screen
sleep 0.7
assert_eq "$(tail -c "+$((SEEN + 1))" "$TMP/screen" | wc -c)" 0 "bytes drawn while it is paused"
type_keys p
expect_soon 20 screen_has 'PID    CPU'
type_keys ' '
# An arrow is not what its letters are.
type_keys $'\033[q'
forget_screen
expect_soon 20 screen_has 'busy'
forget_screen
type_keys q
end_top 0

note "a small terminal, and one that changes"
start_top -p "$load"
expect_soon 20 screen_has 'busy'
forget_screen
stty rows 7 cols 40 <"/proc/$TOP_PID/fd/1"
expect_soon 20 screen_has 'busy'
sleep 0.5
forget_screen
expect_soon 20 screen_has 'busy'
# The last picture that is whole.
tail -c "+$((SEEN + 1))" "$TMP/screen" | awk 'BEGIN { RS = "\033\\[H" } NR > 1 { last = before; before = $0 }
	END { print last ? last : before }' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\r//g' >"$TMP/picture"
assert_le "$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' "$TMP/picture")" 40 "columns"
assert_ge "$(awk 'END { print NR }' "$TMP/picture")" 2 "lines"
assert_le "$(awk 'END { print NR }' "$TMP/picture")" 8 "lines"

note "Ctrl-Z gives the terminal back, and it goes on"
forget_screen
stty -a <"/proc/$TOP_PID/fd/1" | grep -q -- '-icanon' || fail "keys do not come at once"
kill -TSTP "$TOP_PID"
is_stopped() {
	grep -q '^State:.T' "/proc/$TOP_PID/status"
}
expect_soon 10 is_stopped
stty -a <"/proc/$TOP_PID/fd/1" | grep -q -- ' icanon' || fail "a stopped top keeps the terminal"
forget_screen
kill -CONT "$TOP_PID"
expect_soon 20 screen_has 'busy'
stty -a <"/proc/$TOP_PID/fd/1" | grep -q -- '-icanon' || fail "keys do not come at once after Ctrl-Z"

note "Ctrl-C"
forget_screen
type_keys $'\003'
end_top "0"

note "signals, also those that kill"
for signal in TERM HUP; do
	start_top -p "$load"
	expect_soon 20 screen_has 'busy'
	forget_screen
	kill -$signal "$TOP_PID"
	end_top 0
done
for signal in QUIT ABRT USR1; do
	start_top -p "$load"
	expect_soon 20 screen_has 'busy'
	forget_screen
	(ulimit -c 0; kill -$signal "$TOP_PID")
	end_top $((128 + $(kill -l $signal)))
done

note "its end by itself leaves the last picture"
start_top -n 2 -p "$load"
expect_soon 20 test -s "$TMP/after"
screen_has '1049lkymo top  [0-9:]+  [0-9]+ CPU' || fail "nothing is left to be read"
end_top 0

kill "$load"
no_bpf_left
