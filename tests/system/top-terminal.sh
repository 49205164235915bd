#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# kymo top on a terminal: output, keys, sizes and Ctrl-Z. The terminal has its initial state after
# every kind of exit.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command script stty
remember_bpf

# Runs `kymo top [option ...]` on a separate terminal. `type_keys` types keys there. The output is
# in $TMP/screen, and the terminal's state before and after in $TMP/before and $TMP/after.
start_top() {
	# (background jobs of a shell ignore SIGQUIT)
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

# screen_has REGEX: whether the output since the last `forget_screen` matches
SEEN=0
screen_has() {
	tail -c "+$((SEEN + 1))" "$TMP/screen" | grep -aE -e "$1" >/dev/null
}

forget_screen() {
	SEEN=$(wc -c <"$TMP/screen")
}

# picture: prints the last complete picture since the last `forget_screen`, as text
picture() {
	{
		tail -c "+$((SEEN + 1))" "$TMP/screen"
		echo "(what is not whole)"
	} | awk 'BEGIN { RS = "\033\\[J" } { last = this; this = $0 }
		END { if ((at = index(last, "\033[H"))) print substr(last, at + 3) }' |
		sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\r//g'
}

# drawn_whole: whether the output ends with the end of a picture
drawn_whole() {
	[ "$(tail -c 3 "$TMP/screen")" = $'\033[J' ]
}

# end_top STATUS: checks the exit status, and that the terminal has its initial state
end_top() {
	expect_soon 20 test -s "$TMP/after"
	assert_eq "$(cat "$TMP/status")" "$1" "exit status"
	exec {KEYS}>&-
	wait "$SCRIPT_PID" || true
	cmp "$TMP/before" "$TMP/after" || fail "the terminal is not as it was"
	tail -c +"$((SEEN + 1))" "$TMP/screen" | tr -d '\n' | grep -aF $'\033[?7h\033[?25h\033[?1049l' >/dev/null ||
		fail "the screen was not given back"
	SEEN=0
}

note "the display, and keys"
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
# A view of functions only has no processes.
type_keys f
shows_functions_alone() {
	picture >"$TMP/picture"
	grep -q 'MODULE *PROCESS' "$TMP/picture" && ! grep -q 'PID    CPU' "$TMP/picture"
}
expect_soon 20 shows_functions_alone
forget_screen
expect_soon 20 screen_has 'busy'
expect_soon 20 screen_has 'MODULE +PROCESS'
! screen_has 'PID    CPU' || fail "processes in the view of functions"
# Space pauses: only keys cause drawing.
type_keys ' '
expect_soon 20 screen_has '\(paused\)'
expect_soon 20 drawn_whole
forget_screen
# (another picture of the same interval has four)
expect_recorded - timeout "$(limit 60)" "$KYMO" top --direct --json -i 200ms -n 4 -p "$load"
assert_eq "$(tail -c "+$((SEEN + 1))" "$TMP/screen" | wc -c)" 0 "bytes drawn while it is paused"
type_keys p
expect_soon 20 screen_has 'PID    CPU'
type_keys ' '
# The letters in the sequence of an arrow key are not keys.
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
# (the current picture may still have the previous size of the terminal)
fits() {
	picture >"$TMP/picture"
	awk 'length($0) > 40 { wide = 1 } /busy/ { busy = 1 } END { exit wide || !busy || NR < 2 || NR > 8 }' "$TMP/picture"
}
wait_for 20 fits || {
	cat "$TMP/picture" >&2
	fail "no picture fits into 7 lines of 40 columns"
}
# The next pictures fit, too.
forget_screen
has_picture() {
	[ "$(picture)" ]
}
expect_soon 20 has_picture
fits || fail "a picture does not fit any more: $(cat "$TMP/picture")"

note "Ctrl-Z gives the terminal back, and it goes on"
forget_screen
stty -a <"/proc/$TOP_PID/fd/1" | grep -- '-icanon' >/dev/null || fail "keys do not come at once"
kill -TSTP "$TOP_PID"
is_stopped() {
	grep -q '^State:.T' "/proc/$TOP_PID/status"
}
expect_soon 10 is_stopped
stty -a <"/proc/$TOP_PID/fd/1" | grep -- ' icanon' >/dev/null || fail "a stopped top keeps the terminal"
forget_screen
kill -CONT "$TOP_PID"
expect_soon 20 screen_has 'busy'
stty -a <"/proc/$TOP_PID/fd/1" | grep -- '-icanon' >/dev/null || fail "keys do not come at once after Ctrl-Z"

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
