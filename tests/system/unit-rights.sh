#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What kymod.service leaves the service is enough for all that it does: with these capabilities and
# system calls only, and without a path to the program, which was replaced, it samples, knows where
# the kernel is, finds the allocator in a program that only its owner may read, and holds it for the
# look at leaks. (In a container its pids would not be those of the kernel's records.) All that once
# more where the kernel refuses perf events, as Debian's do: then kymo-perf.service opens them, with
# no other capability.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_bus
need_command systemd-analyze setpriv unshare

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

# calls UNIT: those that it leaves the service
calls() {
	local words

	words=$(unit_settings "$1" SystemCallFilter)
	# shellcheck disable=SC2086 # words
	expand ${words%%\~*} | sort -u >"$TMP/allowed"
	# shellcheck disable=SC2086 # words
	expand ${words##*\~} | sort -u >"$TMP/denied"
	expand @default | sort -u >"$TMP/default"
	# (what every service has cannot be taken away by a set that it is part of)
	comm -23 "$TMP/denied" "$TMP/default" | comm -23 "$TMP/allowed" -
	# For the programs that stand between here and the daemon.
	echo execve
}

calls kymod >"$TMP/calls"
grep -qx ptrace "$TMP/calls" || fail "the filter of the unit was not understood"
! grep -qx mount "$TMP/calls" || fail "the filter of the unit was not understood"
# (with which threads write what is a user's as that user: failing-output sees to the rest)
for call in setgroups setfsuid setfsgid capset prctl; do
	grep -qx $call "$TMP/calls" || fail "the unit does not allow $call()"
done
calls kymo-perf >"$TMP/perf-calls"
grep -vx perf_event_open "$TMP/calls" >"$TMP/calls-without-perf"

export RUNTIME_DIRECTORY=$TMP/run
mkdir "$TMP/home" "$TMP/run"
chmod 755 "$TMP"
mkfifo "$TMP/go"

# The program and its memory are another user's, and nobody else may read it. As an update of a
# package does it, no path leads to it any more.
start_plant() {
	cp "$LEAK_PROGRAMS/leak-plant-static" "$TMP/home/plant"
	chmod 700 "$TMP/home" "$TMP/home/plant"
	chown -R 4711:4711 "$TMP/home"
	exec 9<>"$TMP/go"
	setpriv --reuid=4711 --regid=4711 --clear-groups "$TMP/home/plant" --held list buffers rows <"$TMP/go" >"$TMP/truth" 9>&- &
	plant=$!
	expect_soon 10 grep -qx plant "/proc/$plant/comm"
	expect_soon 5 is_asleep "$plant"
	rm "$TMP/home/plant"
}

start_bus
perf=$TMP/perf
systemd-socket-activate --listen="$perf" --seqpacket setpriv --bounding-set="-all,$(unit_capabilities kymo-perf)" --no-new-privs \
	"$ALLOW_CALLS" "$TMP/perf-calls" "$KYMOD" --open-perf-events >"$TMP/perf.log" 2>&1 &
expect_soon 10 test -S "$perf"

# start_closed CALLS: the service with these calls; its mount namespace has nothing where the
# program is
start_closed() {
	unshare --mount --propagation private bash -c "mount -t tmpfs none '$TMP/home' && exec setpriv \
		--bounding-set=-all,$(unit_capabilities kymod) --no-new-privs '${ALLOW_CALLS}' '$1' '$KYMOD' --bus '$BUS' --perf-events '$perf'" \
		>"$TMP/kymod.log" 2>&1 &
	KYMOD_PID=$!
	wait_for 10 "$KYMO" list --bus "$BUS" || {
		cat "$TMP/kymod.log" >&2
		fail "kymod does not start with what the unit leaves it"
	}
	assert_eq "$(grep -c '^Seccomp:.2' "/proc/$KYMOD_PID/status")" 1 "filters"
}

# all_of_it CALLS HOW: what the service does with these calls
all_of_it() {
	rm -f "$TMP"/*.fxt
	start_plant
	expect_exit 0 "$LEAVE_PROBES" journal "$plant"
	start_closed "$1"

	note "what a service that was killed has left in a program of another user, by a path that leads nowhere"
	expect_soon 10 text_is_clean "$plant"

	note "the whole machine, $2"
	"$STACK_LOAD" chain 60000 >"$TMP/stacks.json" &
	load=$!
	expect_recorded "$TMP/all.fxt" "$KYMO" record --bus "$BUS" -o "$TMP/all.fxt" -d 1s -F 499 \
		-e sched,profile,offcpu,irq,softirq,workqueue,power,counters
	kill $load
	dump_records "$TMP/all.fxt"
	assert_ge "$(events mapping | gojq -s 'map(select(.args.path == "[kernel.kallsyms]" or .args.name == "[kernel.kallsyms]")) | length')" 1 \
		"mappings of the kernel"
	summarize "$TMP/all.fxt"
	assert_ge "$(json "$SUMMARY" .profile.samples)" 10 "samples"

	note "what one program allocates, of another user, by a path that leads nowhere"
	"$KYMO" record --bus "$BUS" -o "$TMP/leaks.fxt" -e memory,fd,shm,threads -p "$plant" --reach freeze 2>"$TMP/record.log" &
	record=$!
	expect_soon 30 is_watched "$plant"
	echo >&9
	expect_soon 60 holds "$TMP/truth" 'length == 1' -s
	expect_soon 5 is_asleep "$plant"
	kill -INT $record
	wait $record || {
		cat "$TMP/record.log" "$TMP/kymod.log" >&2
		fail "the recording failed"
	}
	dump_records "$TMP/leaks.fxt"
	assert_ge "$(events block | gojq -s 'map(select(.args.reach == "lost")) | length')" 10 "blocks that are lost"
	expect_exit 0 "$KYMO" check "$TMP/leaks.fxt"
	expect_soon 5 is_asleep "$plant"
	exec 9>&-
	kill $plant
	stop_kymod
	assert_empty <(grep -vE ' (records|ended |removed [0-9]+ breakpoints )' "$TMP/kymod.log") "complaints of kymod"
}

remember_bpf
all_of_it "$TMP/calls" "as the unit has it"
all_of_it "$TMP/calls-without-perf" "without perf events"
grep '^kymod' "$TMP/perf.log" >"$TMP/perf.said" || true
assert_empty "$TMP/perf.said" "complaints of who opens perf events"
no_bpf_left
