#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A thread whose cgroup, or the one above it, has used up its quota of CPU time: `kymo why` says so,
# with this cgroup, the quota and the period. The time, and how often, are those of the kernel's
# account (cpu.stat).

. "$(dirname "$0")/../lib.sh"
need_btf
need_root
need_command gcc taskset
# In another namespace, the paths of cgroups begin at another place than those of the kernel.
[ "$(readlink /proc/self/ns/cgroup)" = "cgroup:[4026531835]" ] ||
	skip "this is not the initial cgroup namespace"

# has_cpu FILE: FILE, a list of controllers, has the controller cpu
has_cpu() {
	[ -r "$1" ] && grep -qw cpu "$1"
}

# disable_cpu FILE: for at_exit
disable_cpu() {
	echo -cpu >"$1"
}

# A cgroup of version 1 or 2 with the controller cpu, and one below it.
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
name=kymo-throttled-$$
if [ "$v1" ] && [ -w "$v1" ]; then
	group=$v1/$name
elif [ "$v2" ] && [ -w "$v2" ] && has_cpu "$v2/cgroup.controllers"; then
	group=$v2/$name
	has_cpu "$v2/cgroup.subtree_control" || {
		at_exit disable_cpu "$v2/cgroup.subtree_control"
		echo +cpu >"$v2/cgroup.subtree_control"
	}
else
	skip "there is no cgroup with the controller cpu"
fi
at_exit rmdir "$group"
mkdir "$group"
# The group gets a CPU soon, on a busy machine, too.
if [ -e "$group/cpu.max" ]; then
	echo +cpu >"$group/cgroup.subtree_control"
	echo "20000 100000" >"$group/cpu.max"
	echo 10000 >"$group/cpu.weight"
else
	echo 100000 >"$group/cpu.cfs_period_us"
	echo 20000 >"$group/cpu.cfs_quota_us"
	echo 262144 >"$group/cpu.shares"
fi
at_exit rmdir "$group/below"
mkdir "$group/below"

cat >"$TMP/spin.c" <<'END'
#include <time.h>

int main(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec == 0 && used.tv_nsec < 300000000);
	return 0;
}
END
gcc -O2 -o "$TMP/spin" "$TMP/spin.c"

# account FILE: in FILE, a cpu.stat: how often the group was throttled, and for how many ns
account() {
	awk '$1 == "nr_throttled" { n = $2 }
		$1 == "throttled_time" { ns = $2 }
		$1 == "throttled_usec" { ns = $2 * 1000 }
		END { printf "%.0f %.0f\n", n, ns }' "$1"
}

# throttle FILE [record option ...]: records the program in $group/below. Then kernel_n and kernel_ns
# are the kernel's account.
throttle() {
	local file=$1 n ns

	shift
	# A recording that was disturbed is repeated. (Arguments of programs are in the archive. The
	# name of the group is in none of them, so that only the records of cgroups have it.)
	GROUP=$group record_around "$file" "$@" -- bash -c 'before=$(<"$GROUP/cpu.stat") &&
		echo "$before" >"$1/before" && echo $$ >"$GROUP/below/cgroup.procs" &&
		exec taskset -c "$2" "$1/spin"' - "$TMP" "$(last_cpu)"
	read -r n ns < <(account "$TMP/before")
	read -r kernel_n kernel_ns < <(account "$group/cpu.stat")
	kernel_n=$((kernel_n - n))
	kernel_ns=$((kernel_ns - ns))
}

# Another load can use the CPU when the group may continue, or keep the recorder from it, so this is
# repeated.
for _ in 1 2 3 4 5; do
	throttle "$TMP/t.fxt" -e sched,offcpu
	expect_exit 0 "$KYMO" why --json --whole "$TMP/t.fxt" spin
	cp "$TMP/stdout" "$TMP/why.json"
	found=$(json "$TMP/why.json" .total.throttled_ns)
	note "throttled $kernel_n times for $((kernel_ns / 1000)) us, found $((found / 1000)) us"
	[ $((found * 10)) -lt $((kernel_ns * 9)) ] || [ $((found * 10)) -gt $((kernel_ns * 11)) ] ||
		break
done
assert_ge "$kernel_ns" 500000000 "time for which the kernel has throttled the program"
assert_ge "$found" $((kernel_ns * 9 / 10)) "time for which it was throttled"
assert_le "$found" $((kernel_ns * 11 / 10)) "time for which it was throttled"
holds "$TMP/why.json" ".worst[0].quota == { cgroup: \"/$name\", quota_ns: 20000000, period_ns: 100000000 }" ||
	fail "kymo why does not know the quota: $(json "$TMP/why.json" '.worst[0].quota')"
holds "$TMP/why.json" '.worst[0].verdict.kind == "quota"' ||
	fail "the verdict is $(json "$TMP/why.json" '.worst[0].verdict.text')"

# Each time ends with a period, or shortly before it, if another CPU returns a part of the quota.
dump_records "$TMP/t.fxt"
found_n=$(json "$DUMP" '[.[] | select(.name == "offcpu") | .args | map({ (.name): .value }) | add |
	select(.reason == "throttled" and .cgroup_path == $path)] | length' -s --arg path "/$name")
assert_ge "$found_n" $((kernel_n / 2)) "number of times for which it was throttled"
assert_le "$found_n" $((kernel_n + 2)) "number of times for which it was throttled"

# A single time, in the text.
expect_exit 0 "$KYMO" why "$TMP/t.fxt" spin
assert_says "$TMP/stdout" "was throttled for "
assert_says "$TMP/stdout" "the cgroup /$name may use 20.0 ms of CPU time in each 100 ms."
assert_says "$TMP/stdout" "Raise the CPU quota of the cgroup /$name "
expect_exit 0 "$KYMO" check --strict "$TMP/t.fxt"

# The name of the cgroup is not in a redacted archive.
grep -qaF "$name" "$TMP/t.fxt" || fail "the name of the cgroup is not in the archive"
expect_exit 0 "$KYMO" redact "$TMP/t.fxt" "$TMP/redacted.fxt"
! grep -qaF "$name" "$TMP/redacted.fxt" || fail "the name of the cgroup is in the redacted archive"

# Without a quota, no thread of the cgroup is throttled.
if [ -e "$group/cpu.max" ]; then
	echo max >"$group/cpu.max"
else
	echo -1 >"$group/cpu.cfs_quota_us"
fi
throttle "$TMP/t.fxt" -e sched,offcpu
assert_eq "$kernel_n" 0 "number of times, by the kernel"
expect_exit 0 "$KYMO" why --json --whole "$TMP/t.fxt" spin
assert_eq "$(json "$TMP/stdout" .total.throttled_ns)" 0 "time for which it was throttled"
