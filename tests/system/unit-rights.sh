#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What kymod.service leaves the service is enough for all that it does: with these capabilities and system calls only, and
# without a path to the program, which was replaced, it samples, knows where the kernel is, finds the allocator in a program that only its owner may
# read, and holds it for the look at leaks. (In a container its pids would not be those of the kernel's records.)

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_bus
need_command systemd-analyze setpriv unshare

unit=$ROOT/units/kymod.service.in

# settings NAME: what the unit says, words
settings() {
	sed -n "s/^$1=//p" "$unit" | tr '\n' ' '
}

# expand NAME ...: system calls, of those of systemd's sets
systemd-analyze syscall-filter | awk '/^@/ { set = $1; next } /^ +[@a-z]/ { print set, $1 }' >"$TMP/sets"
expand() {
	local name

	for name; do
		case $name in
		@*)
			# shellcheck disable=SC2046 # words
			expand $(awk -v set="$name" '$1 == set { print $2 }' "$TMP/sets")
			;;
		*) echo "$name" ;;
		esac
	done
}

words=$(settings SystemCallFilter)
# shellcheck disable=SC2086 # words
expand ${words%%\~*} | sort -u >"$TMP/allowed"
# shellcheck disable=SC2086 # words
expand ${words##*\~} | sort -u >"$TMP/denied"
expand @default | sort -u >"$TMP/default"
# (what every service has cannot be taken away by a set that it is part of)
comm -23 "$TMP/denied" "$TMP/default" | comm -23 "$TMP/allowed" - >"$TMP/calls"
grep -qx ptrace "$TMP/calls" || fail "the filter of the unit was not understood"
! grep -qx mount "$TMP/calls" || fail "the filter of the unit was not understood"
# For the programs that stand between here and the daemon.
echo execve >>"$TMP/calls"
capabilities=$(settings CapabilityBoundingSet | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g; s/,*$//')

# The program and its memory are another user's, and nobody else may read it.
mkdir "$TMP/home"
cp "$LEAK_PROGRAMS/leak-plant-static" "$TMP/home/plant"
chmod 700 "$TMP/home" "$TMP/home/plant"
chown -R 4711:4711 "$TMP/home"
chmod 755 "$TMP"
mkfifo "$TMP/go"
exec 9<>"$TMP/go"
setpriv --reuid=4711 --regid=4711 --clear-groups "$TMP/home/plant" --held list buffers rows <"$TMP/go" >"$TMP/truth" 9>&- &
plant=$!
expect_soon 10 grep -qx plant "/proc/$plant/comm"
expect_soon 5 is_asleep "$plant"
# As an update of a package does it: no path leads to it any more.
rm "$TMP/home/plant"

start_bus
# Its mount namespace has nothing there.
unshare --mount --propagation private bash -c "mount -t tmpfs none '$TMP/home' && exec setpriv \
	--bounding-set=-all,$capabilities --no-new-privs '${ALLOW_CALLS}' '$TMP/calls' '$KYMOD' --bus '$BUS'" \
	>"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
wait_for 10 "$KYMO" list --bus "$BUS" || {
	cat "$TMP/kymod.log" >&2
	fail "kymod does not start with what the unit leaves it"
}
assert_eq "$(grep -c '^Seccomp:.2' "/proc/$KYMOD_PID/status")" 1 "filters"
remember_bpf

note "the whole machine"
"$STACK_LOAD" chain 300 >"$TMP/stacks.json" &
expect_exit "0|3" "$KYMO" record --bus "$BUS" -o "$TMP/all.fxt" -d 1s -F 499 \
	-e sched,profile,offcpu,irq,softirq,workqueue,power,counters
dump_records "$TMP/all.fxt"
assert_ge "$(events mapping | jq -s 'map(select(.args.path == "[kernel.kallsyms]" or .args.name == "[kernel.kallsyms]")) | length')" 1 \
	"mappings of the kernel"
summarize "$TMP/all.fxt"
assert_ge "$(json "$SUMMARY" .profile.samples)" 10 "samples"

note "what one program allocates, of another user, by a path that leads nowhere"
"$KYMO" record --bus "$BUS" -o "$TMP/leaks.fxt" -e memory,fd,shm,threads -p "$plant" --reach freeze 2>"$TMP/record.log" &
record=$!
expect_soon 30 is_watched "$plant"
echo >&9
expect_soon 60 jq -se 'length == 1' "$TMP/truth"
expect_soon 5 is_asleep "$plant"
kill -INT $record
wait $record || {
	cat "$TMP/record.log" "$TMP/kymod.log" >&2
	fail "the recording failed"
}
dump_records "$TMP/leaks.fxt"
assert_ge "$(events block | jq -s 'map(select(.args.reach == "lost")) | length')" 10 "blocks that are lost"
expect_exit 0 "$KYMO" check "$TMP/leaks.fxt"
expect_soon 5 is_asleep "$plant"
exec 9>&-
kill $plant
stop_kymod
assert_empty <(grep -vE ' (records|ended )' "$TMP/kymod.log") "complaints of kymod"
no_bpf_left
