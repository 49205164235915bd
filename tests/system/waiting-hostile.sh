#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Threads that wait since before the recording: kymo reads their stacks and locks, and never waits
# for another program, nor needs to see them in /proc.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc setpriv unshare
[ "$(uname -m)" = x86_64 ] || skip "the memory of other processes is read on x86-64 only"
[ -e /dev/fuse ] || skip "no FUSE"

RECORDINGS=5
WAITERS=400

# n_waits PID: prints how many threads of it wait for a futex
n_waits() {
	cat "/proc/$1/task/"*/wchan 2>/dev/null | { grep -o futex || true; } | wc -l
}
wait_all() {
	[ "$(n_waits "$1")" -ge "$2" ]
}

note "a lock in a page that goes away, and then comes from a file system that does not answer"
gcc -D_GNU_SOURCE -O1 -I "$ROOT" -pthread -o "$TMP/lock-drop-load" \
	"$ROOT/tests/support/loads/lock-drop-load.c" "$ROOT/tests/support/fakes/mute-fuse.c"
mkdir "$TMP/mute"
mkfifo "$TMP/go"
"$TMP/lock-drop-load" "$TMP/mute" <"$TMP/go" >"$TMP/dropped" &
load=$!
exec 7>"$TMP/go"
expect_soon 20 wait_all $load $WAITERS
echo >&7
for ((i = 0; i < RECORDINGS; i++)); do
	expect_exit 0 timeout -k 1 "$(limit 30)" "$KYMO" record --direct -e offcpu -p $load --force \
		-o "$TMP/dropped.fxt" -- true
	assert_empty "$TMP/dropped" "the process that waits for the page"
done
kill $load
exec 7>&-
"$LIST_STACKS" "$TMP/dropped.fxt" >"$TMP/stacks"
assert_ge "$(grep -c '^waiting' "$TMP/stacks")" $WAITERS "waits that continue"

note "a recorder ends although the file system of a mapped file never answers it"
gcc -D_GNU_SOURCE -O1 -I "$ROOT" -pthread -o "$TMP/mute-record" \
	"$ROOT/tests/support/loads/mute-record.c" "$ROOT/tests/support/fakes/mute-fuse.c"
mkdir "$TMP/mapped"
expect_exit 0 timeout -k 1 "$(limit 60)" "$TMP/mute-record" "$TMP/mapped" \
	bash -c 'exec "$@" -p "$MAPPER"' - "$KYMO" record --direct -e memory -d 8s -o "$TMP/mapped.fxt"

note "a deadlock of another user, in a /proc that hides it, with two capabilities"
gcc -D_GNU_SOURCE -g -O2 -pthread -o "$TMP/why-deadlock" "$ROOT/tests/support/loads/why-deadlock.c"
"$TMP/why-deadlock" >"$TMP/ready" &
dead=$!
expect_soon 20 wait_all $dead 4
mkdir -m 777 "$TMP/nobody"
cp "$KYMO" "$TMP/nobody/kymo"
chmod 755 "$TMP" "$TMP/nobody/kymo"
cat >"$TMP/hidden" <<'END'
mount -t proc -o hidepid=1 proc /proc || exit 77
caps=-all,+bpf,+perfmon
cd /
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=$caps --ambient-caps=$caps \
	--bounding-set=$caps "$@"
END
expect_exit 0 unshare -m bash "$TMP/hidden" "$TMP/nobody/kymo" record --direct -d 500ms \
	-e sched,offcpu -o "$TMP/nobody/dead.fxt"
kill $dead
expect_exit 0 "$KYMO" why --json "$TMP/nobody/dead.fxt" dead-a
holds "$TMP/stdout" '.worst[0].wait.owner.name == "dead-b"' || fail "the owner of the lock is not named"
