#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Impossible requests are refused with a message and exit status 1 or 2, and nothing is left behind.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus

out=$TMP/out.fxt

# refused STATUS WORDS COMMAND ...: the message contains WORDS
refused() {
	local status=$1 words=$2

	shift 2
	remember_bpf
	expect_exit "$status" timeout "$(limit 20)" "$@"
	assert_contains "$TMP/stderr" '^kymo[a-z ]*: .*[a-z]+ .*[a-z]+' "complaint of: $*"
	assert_says "$TMP/stderr" "$words" "complaint of: $*"
	assert_empty "$TMP/stdout" "stdout of: $*"
	[ ! -e "$out" ] || fail "left behind $out: $*"
	no_bpf_left "$*"
}
direct() {
	local status=$1 words=$2

	shift 2
	refused "$status" "$words" "$KYMO" record --direct -d 1s -o "$out" "$@"
}

# Options on the command line.
direct 2 "unknown category 'nonsense'" -e nonsense
direct 2 "unknown category 'nonsense'" -e sched,nonsense
direct 2 "-b: '12Q' is not a size" -b 12Q
direct 2 "-b: '-5' is not a size" -b -5
direct 2 "-b: '1' is out of range" -b 1
direct 2 "-b: '1T' is out of range" -b 1T
direct 2 "-d: 'soon' is not a time" -d soon
direct 2 "-d: '-1s' is not a time" -d -1s
direct 2 "'bogus' is not a process id" -p bogus
direct 1 'there is no process 4194300' -p 4194300
direct 1 '--cgroup: ' --cgroup /no/such/cgroup
direct 1 "there is no user 'no_such_user'" --uid no_such_user
direct 2 no-such-option --no-such-option
direct 127 no_such_command -- "$TMP/no_such_command"
refused 2 "'not a name' is not a valid name for a session" "$KYMO" start 'not a name' -o "$out"
refused 2 'one NAME' "$KYMO" start
refused 2 'one NAME' "$KYMO" stop

# Outputs.
refused 1 /proc/nowhere.fxt "$KYMO" record --direct -d 1s -o /proc/nowhere.fxt
refused 1 "$TMP/nowhere" "$KYMO" record --direct -d 1s -o "$TMP/nowhere/x.fxt"
refused 1 "$TMP is a directory" "$KYMO" record --direct -d 1s -o "$TMP"
echo precious >"$TMP/there.fxt"
refused 1 '--force' "$KYMO" record --direct -d 1s -o "$TMP/there.fxt"
assert_eq "$(cat "$TMP/there.fxt")" precious "the file that was there"
expect_recorded "$TMP/there.fxt" "$KYMO" record --direct -d 100ms --force -o "$TMP/there.fxt"
expect_exit 0 "$KYMO" check "$TMP/there.fxt"

# No root: as nobody, with a copy of the program in a public directory.
mkdir -m 777 "$TMP/nobody"
chmod 755 "$TMP"
cp "$KYMO" "$TMP/nobody/kymo"
out=$TMP/nobody/out.fxt
refused 1 'needs root' setpriv --reuid=65534 --regid=65534 --clear-groups \
	--inh-caps=-all --bounding-set=-all "$TMP/nobody/kymo" record --direct -d 1s -o "$out"
out=$TMP/out.fxt

# No BTF: its directory hidden in a mount namespace.
if unshare -m true 2>/dev/null; then
	refused 1 BTF unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh \
		"$KYMO" record --direct -d 1s -o "$out"
fi

# No daemon.
for verb in list "stop x" "status x" "mark x y" "start x -o $out" "record -d 1s -o $out"; do
	# shellcheck disable=SC2086 # words
	refused 1 "there is no bus unix:path=$TMP/nobus" "$KYMO" $verb --bus "unix:path=$TMP/nobus"
done
start_bus
for verb in list "stop x" "start x -o $out" "record -d 1s -o $out"; do
	# shellcheck disable=SC2086
	refused 1 'the service kymod is not running on the bus' "$KYMO" $verb --bus "$BUS"
done

# A daemon that refuses.
start_kymod
remember_bpf
# (without stacks, because unwind tables can be created at any time)
expect_exit 0 "$KYMO" start taken -e sched -o "$TMP/taken.fxt" --bus "$BUS"
rm -f "$out"
# (refused() compares with the state at its call, so the running session does not count)
refused 1 taken "$KYMO" start taken -o "$out" --bus "$BUS"
refused 1 absent "$KYMO" stop absent --bus "$BUS"
refused 1 absent "$KYMO" status absent --bus "$BUS"
refused 1 absent "$KYMO" mark absent text --bus "$BUS"
expect_recorded "$TMP/taken.fxt" "$KYMO" stop taken --bus "$BUS"
refused 1 "there is no process 4194300" "$KYMO" record -d 1s -p 4194300 -o "$out" --bus "$BUS"
refused 1 'adduser nobody' setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$TMP/nobody/kymo" start intruder -o "$TMP/nobody/out.fxt" --bus "$BUS"
[ ! -e "$TMP/nobody/out.fxt" ] || fail "a refused session left its file behind"

# A file that is not an archive.
echo "this is no trace" >"$TMP/text"
for verb in summary dump check; do
	expect_exit 1 "$KYMO" $verb "$TMP/text"
	assert_says "$TMP/stderr" 'FXT' "complaint of $verb"
	expect_exit 1 "$KYMO" $verb "$TMP/absent.fxt"
	assert_says "$TMP/stderr" 'absent.fxt' "complaint of $verb"
done
