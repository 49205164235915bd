#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools/clean-left removes what a killed test has left, and leaves alone what a living one has.

. "$(dirname "$0")/../lib.sh"

# Ids of a test that has ended, and of one that lives.
sleep 0 &
dead=$!
wait $dead
sleep 987 &
living=$!

# (one has no id)
mkdir -p "$TMP/build" "$TMP/tmp/kymo-test.$dead.AAAAAA/x" "$TMP/tmp/kymo-test.$living.AAAAAA" "$TMP/tmp/kymo-test.123456"
# plant NAME ENVIRONMENT ...: a process with it
plant() {
	local name=$1

	shift
	env -i "$@" sleep 988 &
	eval "$name=$!"
}
plant orphan KYMO_TEST_MARK="$dead-1" KYMO="$TMP/build/cli/kymo"
plant child KYMO_TEST_MARK="$living-1" KYMO="$TMP/build/cli/kymo"
plant nested KYMO_TEST_MARK="$living-1" KYMO_TEST_RUN="$dead-1" KYMO="$TMP/build/cli/kymo"
plant elsewhere KYMO_TEST_MARK="$dead-1" KYMO=/other/build/cli/kymo
expect_soon 5 grep -qzx sleep "/proc/$elsewhere/cmdline"

cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$cgroups" ] && [ -w "$cgroups" ] || cgroups=
if [ "$cgroups" ]; then
	planted=("$cgroups/kymo-storm-$dead" "$cgroups/kymo-test-$dead.service" "$cgroups/lxc.payload.kymo-test-$dead"
		"$cgroups/kymo-test-$living" "$cgroups/kymo-test-x-$dead-y-z")
	remove_planted() {
		rmdir "${planted[0]}"/{1,2,3} "${planted[@]}" 2>/dev/null || true
	}
	at_exit remove_planted
	mkdir "${planted[@]}" "${planted[0]}"/{1,2,3}
fi
mounted=
if [ "$(id -u)" = 0 ] && mount -t tmpfs none "$TMP/tmp/kymo-test.$dead.AAAAAA/x" 2>/dev/null; then
	mounted=yes
	: >"$TMP/tmp/kymo-test.$dead.AAAAAA/x/file"
fi

note "what a killed test left is removed, and said"
TMPDIR=$TMP/tmp "$ROOT/tools/clean-left" "$TMP/build" >"$TMP/said"
expect_soon 5 has_ended "$orphan"
assert_says "$TMP/said" "process $orphan, sleep 988"
[ ! -e "$TMP/tmp/kymo-test.$dead.AAAAAA" ] || fail "a directory is still there"
[ ! "$mounted" ] || assert_says "$TMP/said" "removed: mount $TMP/tmp/kymo-test.$dead.AAAAAA/x"
! grep -qF "$TMP/tmp" /proc/mounts || fail "a mount is still there"
if [ "$cgroups" ]; then
	# (another run of tests may have removed them just before)
	for _ in 1 2 3; do
		! grep -qF "removed: ${planted[0]} (" "$TMP/said" || break
		mkdir -p "${planted[@]:0:3}" "${planted[0]}"/{1,2,3}
		TMPDIR=$TMP/tmp "$ROOT/tools/clean-left" "$TMP/build" >"$TMP/said"
	done
	assert_line "$TMP/said" "left by a test, and removed: $cgroups/kymo-storm-$dead (4 cgroups)"
	for n in 0 1 2; do
		[ ! -d "${planted[n]}" ] || fail "${planted[n]} is still there"
	done
fi

note "what a living test has stays"
for pid in $living $child $nested $elsewhere; do
	! has_ended "$pid" || fail "process $pid was ended"
done
for name in "$living.AAAAAA" 123456; do
	[ -d "$TMP/tmp/kymo-test.$name" ] || fail "directory kymo-test.$name of a living test has gone"
done
[ ! "$cgroups" ] || [ -d "${planted[3]}" ] || fail "a cgroup of a living test has gone"
