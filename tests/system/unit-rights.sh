#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The rights that kymod.service grants are enough for all tasks of the service. With only these
# capabilities and system calls, and without a path to its own program, which was replaced, the
# service samples, finds the addresses of the kernel, finds the allocator in a program that only its
# owner may read, holds this program for the search for leaks, and records the events of another
# user's program. (In a container, its pids would differ from those in the kernel's records.) The test repeats this with a kernel that refuses perf
# events, as Debian's kernels do: then kymo-perf.service opens them, with no other capability.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../plants.sh"
need_btf
need_bus
need_command systemd-analyze setpriv unshare

# expand NAME ...: prints the system calls of systemd's sets
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

# calls UNIT: prints the system calls that the unit permits
calls() {
	local words

	words=$(unit_settings "$1" SystemCallFilter)
	# shellcheck disable=SC2086 # words
	expand ${words%%\~*} | sort -u >"$TMP/allowed"
	# shellcheck disable=SC2086 # words
	expand ${words##*\~} | sort -u >"$TMP/denied"
	expand @default | sort -u >"$TMP/default"
	# (system calls that every service has cannot be removed by a set that contains them)
	comm -23 "$TMP/denied" "$TMP/default" | comm -23 "$TMP/allowed" -
	# For the programs that start the daemon here.
	echo execve
}

calls kymod >"$TMP/calls"
grep -qx ptrace "$TMP/calls" || fail "the filter of the unit was not understood"
! grep -qx mount "$TMP/calls" || fail "the filter of the unit was not understood"
# (with these, threads write outputs of a user as this user; failing-output tests the rest)
for call in setgroups setfsuid setfsgid capset prctl; do
	grep -qx $call "$TMP/calls" || fail "the unit does not allow $call()"
done
calls kymo-perf >"$TMP/perf-calls"
grep -vx perf_event_open "$TMP/calls" >"$TMP/calls-without-perf"

export RUNTIME_DIRECTORY=$TMP/run KYMO_PROVIDER_DIR=$TMP/run
mkdir "$TMP/home" "$TMP/run"
cp "$APP_LOAD" "$KYMO_BUILD/provider/libkymo-provider.so.0" "$TMP"
chmod 755 "$TMP" "$TMP/run" "$TMP/app-load" "$TMP/libkymo-provider.so.0"
mkfifo "$TMP/go"

# The program and its process belong to another user, and no other user may read it. As after an
# update of a package, no path leads to the file.
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

# start_closed CALLS: starts the service with these system calls. In its mount namespace, the
# program's path does not exist.
start_closed() {
	unshare --mount --propagation private bash -c "mount -t tmpfs none '$TMP/home' && umask 077 && exec setpriv \
		--bounding-set=-all,$(unit_capabilities kymod) --no-new-privs '${ALLOW_CALLS}' '$1' '$KYMOD' --bus '$BUS' --perf-events '$perf'" \
		>"$TMP/kymod.log" 2>&1 &
	KYMOD_PID=$!
	wait_for 10 "$KYMO" list --bus "$BUS" || {
		cat "$TMP/kymod.log" >&2
		fail "kymod does not start with what the unit leaves it"
	}
	assert_eq "$(grep -c '^Seccomp:.2' "/proc/$KYMOD_PID/status")" 1 "filters"
}

# all_of_it CALLS HOW: tests all tasks of the service with these system calls
all_of_it() {
	rm -f "$TMP"/*.fxt
	start_plant
	expect_exit 0 "$LEAVE_PROBES" journal "$plant"
	start_closed "$1"

	note "probes that a killed service has left in a program of another user, with an invalid path"
	expect_soon 10 text_is_clean "$plant"

	note "the whole machine, $2"
	"$STACK_LOAD" chain 60000 >"$TMP/stacks.json" &
	load=$!
	expect_recorded "$TMP/all.fxt" "$KYMO" record --bus "$BUS" -o "$TMP/all.fxt" -d 1s -F 499 \
		-e sched,profile,offcpu,irq,softirq,workqueue,power,block,counters
	kill $load
	dump_records "$TMP/all.fxt"
	assert_ge "$(events mapping | gojq -s 'map(select(.args.path == "[kernel.kallsyms]" or .args.name == "[kernel.kallsyms]")) | length')" 1 \
		"mappings of the kernel"
	summarize "$TMP/all.fxt"
	assert_ge "$(json "$SUMMARY" .profile.samples)" 10 "samples"

	note "allocations of a program of another user, with an invalid path"
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

	note "the events of a program of another user"
	# (as tmpfiles.d makes it: the program waits for it)
	[ -p "$TMP/run/providers.bell" ] || mkfifo -m 644 "$TMP/run/providers.bell"
	LD_LIBRARY_PATH=$TMP setpriv --reuid=4711 --regid=4711 --clear-groups "$TMP/app-load" 2 100 >"$TMP/made" &
	load=$!
	expect_recorded "$TMP/app.fxt" "$KYMO" record --bus "$BUS" -o "$TMP/app.fxt" -e app -p $load
	wait $load
	assert_eq "$("$KYMO" dump "$TMP/app.fxt" | grep -c 'event app_[a-z]*:')" 302 "records of the program"
	stop_kymod
	assert_empty <(grep -vE ' (records|ended |removed [0-9]+ breakpoints )' "$TMP/kymod.log") "complaints of kymod"
}

remember_bpf
all_of_it "$TMP/calls" "as the unit has it"
all_of_it "$TMP/calls-without-perf" "without perf events"
grep '^kymod' "$TMP/perf.log" >"$TMP/perf.said" || true
assert_empty "$TMP/perf.said" "complaints of who opens perf events"
no_bpf_left
