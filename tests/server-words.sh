# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Words for tests that disturb a server, and ask kymo why it is slow, behind those of judge-words.sh.
# SERVER is the pid of the server, or of the process that suffers.

CPU=$(last_cpu)

# record_trouble CATEGORIES COMMAND: records while COMMAND disturbs the server, and writes what was
# counted to $OUT. (The recorder runs in this process: the trouble begins when it records.)
record_trouble() {
	OUT=$TMP/ns SERVER=$SERVER CPU=$CPU SOCKET=$SOCKET GROUP=${GROUP:-} THROTTLE=${THROTTLE:-} \
		MAY_BE_LOST=$SKIPPED_FAULTS record_around "$TMP/t.fxt" -b 16M -e "$1" --offcpu-min 100us -- bash -c "$2"
}

# first_verdict WHOM: the answer, in $TMP/why.json
first_verdict() {
	expect_read "$TMP/t.fxt" timeout "$(limit 20)" "$KYMO" why --json "$TMP/t.fxt" "$1"
	cp "$TMP/stdout" "$TMP/why.json"
	note "$1: $(json "$TMP/why.json" .verdict.text)"
}

# judge KINDS [CULPRIT]: the first verdict is one of KINDS, and CULPRIT is its reason: a tid
judge() {
	local kind

	kind=$(json "$TMP/why.json" .verdict.kind)
	[[ " $1 " == *" $kind "* ]] ||
		fail "the verdict is $kind, not $1: $(json "$TMP/why.json" '.worst[0] | del(.path) | tojson')"
	[ -z "${2:-}" ] || assert_eq "$(json "$TMP/why.json" '.verdict.culprit.tid // 0')" "$2" "culprit"
}

# of_server EXPRESSION: of the times of the server's main thread
of_server() {
	json "$TMP/why.json" ".threads[] | select(.thread.tid == $SERVER) | .times | $1"
}

# find_group CONTROLLER: sets GROUP to a new control group with this controller, and VERSION
find_group() {
	local root

	VERSION=1
	root=$(awk -v c="$1" '$3 == "cgroup" && $4 ~ "(^|,)" c "(,|$)" { print $2; exit }' /proc/mounts)
	if [ -z "$root" ]; then
		VERSION=2
		root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
		grep -qw "${1/blkio/io}" "$root/cgroup.subtree_control" 2>/dev/null || return 1
	fi
	GROUP=$root/kymo-test.$1.$$
	mkdir "$GROUP" 2>/dev/null || return 1
	at_exit rmdir "$GROUP"
}

# in_group COMMAND ...: runs COMMAND in GROUP, as this process
in_group() {
	# shellcheck disable=SC2016
	exec bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$GROUP" "$@"
}

# ---- a slow disk ----

# make_disk: mounts a file system at $TMP/disk, for which the control group GROUP will be limited. It is
# on a loop device, whose file is on a disk that takes few requests of this group in a second. Without
# a journal, all of them belong to the server.
make_disk() {
	local device

	device=$(findmnt -no MAJ:MIN --target "$TMP") || return 1
	device=$(cd -P "/sys/dev/block/${device// /}" 2>/dev/null && { [ ! -e partition ] || cd ..; } && cat dev) || return 1
	DISK=$(basename "$(readlink "/sys/dev/block/$device")")
	truncate -s 256M "$TMP/image"
	LOOP=$(losetup --direct-io=on --show -f "$TMP/image" 2>/dev/null) || return 1
	at_exit losetup -d "$LOOP"
	mkfs.ext4 -q -O ^has_journal "$LOOP" >"$TMP/mkfs" 2>&1 || return 1
	mkdir "$TMP/disk"
	mount "$LOOP" "$TMP/disk" || return 1
	at_exit umount "$TMP/disk"
	find_group blkio || return 1
	if [ $VERSION = 1 ]; then
		THROTTLE="blkio.throttle.write_iops_device $device 0 20"
	else
		THROTTLE="io.max $device wiops=max wiops=20"
	fi
	DELAYS=$(cat /proc/sys/kernel/task_delayacct 2>/dev/null) || return 1
	at_exit eval "echo $DELAYS >/proc/sys/kernel/task_delayacct"
	echo 1 >/proc/sys/kernel/task_delayacct
}

# The trouble: the disk is slow for 2 s. The kernel counts the time for which SERVER waited for a disk
# (delay accounting).
# shellcheck disable=SC2016,SC2034
SLOW_DISK='delay() { cut -d " " -f 42 /proc/$SERVER/stat; }
	read -r file device free slow <<<"$THROTTLE"
	begin=$(delay)
	sleep 1.5
	echo "$device $slow" >"$GROUP/$file"
	sleep 2
	echo "$device $free" >"$GROUP/$file"
	sleep 1.5
	echo $((($(delay) - begin) * 10000000)) >"$OUT"'

# judge_slow_disk WHOM: after that trouble. (A worker of the kernel can have sent the requests, or have
# ended the wait.)
judge_slow_disk() {
	local ns

	ns=$(cat "$TMP/ns")
	assert_ge "$ns" 1000000000 "time for which the server waited for a disk"
	first_verdict "$1"
	judge "slow_disk journal"
	holds "$TMP/why.json" '.verdict.text | contains($loop) or contains($disk)' --arg loop "${LOOP#/dev/}" \
		--arg disk "$DISK" || fail "the disk has no name"
	# (the kernel's time also has that for which the server was ready after each wait. Short waits have
	# no stack, and thus no cause.)
	assert_le "$(of_server '[.blocked_ns | .disk, .file_system, .writeback] | add | floor')" "$((ns + ns / 10))" \
		"time for which the server waited for a disk"
	assert_ge "$(of_server '[(.blocked_ns | .disk, .file_system, .writeback, .unknown), .runnable_ns] | add | floor')" \
		"$((ns - ns / 10))" "time for which the server waited for a disk, and was ready"
}

# ---- a neighbour on its CPU ----

# The trouble: for 2 s, a neighbour has CPU. With its priority, it has it for all of this time, whatever
# else runs on this machine, but for the kernel's reserve. The kernel counts the time for which SERVER
# was ready.
# shellcheck disable=SC2016,SC2034
NEIGHBOUR='begin=$(cut -d " " -f 2 /proc/$SERVER/schedstat)
	sleep 1.5
	timeout 2 chrt -f 2 taskset -c $CPU sh -c "echo \$\$ >$OUT.hog; while :; do :; done" # goes on
	sleep 1.5
	echo $(($(cut -d " " -f 2 /proc/$SERVER/schedstat) - begin)) $(cat $OUT.hog) >"$OUT"'

# judge_neighbour_of WHOM: after that trouble
judge_neighbour_of() {
	local ns culprit held

	read -r ns culprit <"$TMP/ns"
	assert_ge "$ns" 1000000000 "time for which the server was ready"
	first_verdict "$1"
	judge "cpu_taken cpu_idle" "$culprit"
	# kymo counts the time from a wakeup to the switch, too, of which the kernel counts a part as CPU
	# time: some microseconds, tens of thousands of times. This is no time of the neighbour.
	assert_ge "$(of_server .runnable_ns)" $((ns * 9 / 10)) "time for which the server was ready"
	holds "$TMP/why.json" ".total.holders[0].thread.tid == $culprit" || fail "another thread had its CPU"
	held=$(json "$TMP/why.json" '.total.holders[0].ns')
	assert_le "$held" $((ns * 11 / 10)) "time for which the neighbour had the CPU"
	assert_ge "$held" 1000000000 "time for which the neighbour had the CPU"
}

# ---- a memory limit ----

# make_swap: makes the machine swap to a file, for a limit of the control group GROUP
make_swap() {
	dd if=/dev/zero of="$TMP/swap" bs=1M count=160 status=none || return 1
	chmod 600 "$TMP/swap"
	mkswap "$TMP/swap" >"$TMP/mkswap" 2>&1 && swapon "$TMP/swap" 2>"$TMP/swapon" || return 1
	at_exit swapoff "$TMP/swap"
	find_group memory || return 1
	if [ $VERSION = 1 ]; then
		THROTTLE="memory.limit_in_bytes -1 24M"
	else
		THROTTLE="memory.max max 24M"
	fi
}

# short_memory COMMAND: the trouble: COMMAND, which reads all data of SERVER, runs while the limit is
# below this data. The kernel counts the major page faults of SERVER.
short_memory() {
	# shellcheck disable=SC2016
	printf '%s\n' 'faults() { cut -d " " -f 12 /proc/$SERVER/stat; }
		read -r file free short <<<"$THROTTLE"
		begin=$(faults)
		sleep 1.5
		echo "$short" >"$GROUP/$file"' "$1" 'echo "$free" >"$GROUP/$file"
		sleep 1.5
		echo $(($(faults) - begin)) >"$OUT"'
}

# judge_short_memory WHOM FAULTS: after that trouble; WHOM has waited for SERVER, which had at least this
# many major page faults meanwhile
judge_short_memory() {
	local n

	n=$(cat "$TMP/ns")
	assert_ge "$n" 100 "major page faults of the server"
	dump_records "$TMP/t.fxt"
	events kymo:page_fault >"$TMP/faults"
	assert_eq "$(json "$TMP/faults" "select(.thread_id == $SERVER and .args.major) | .name" | wc -l)" "$n" \
		"major page faults of the server"
	first_verdict "$1"
	judge "memory_limit program" "$SERVER"
	assert_ge "$(json "$TMP/why.json" ".worst[0].faults | select(.thread.tid == $SERVER) | .major")" "$2" \
		"major page faults of the server during the wait"
	holds "$TMP/why.json" '.verdict.text | endswith(" of memory without a file.")' || fail "the faults are not named"
}
