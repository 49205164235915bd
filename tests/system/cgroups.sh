#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The paths of old and new cgroups are correct in the recording, in sums by unit and container, and
# in edited archives.

. "$(dirname "$0")/../lib.sh"
need_btf
need_cgroup2

service=kymo-test-$$.service
container=lxc.payload.kymo-test-$$
at_exit rmdir "$CGROUP2/$service" "$CGROUP2/$container"
mkdir "$CGROUP2/$service"

# The commands of $1 run in a cgroup that existed before the recording, and then in a new one.
cat >"$TMP/work.sh" <<-END
	echo 0 >"$CGROUP2/$service/cgroup.procs"
	"$KYMO_LOAD" --out "$TMP/service.json" pingpong 1000
	mkdir "$CGROUP2/$container"
	echo 0 >"$CGROUP2/$container/cgroup.procs"
	"$KYMO_LOAD" --out "$TMP/container.json" pingpong 1000
	echo 0 >"$CGROUP2/cgroup.procs"
END
record_around "$TMP/t.fxt" -- bash "$TMP/work.sh"

# groups_of FILE WHAT: writes the summary of FILE by WHAT to the file $GROUPS_FILE, unless it is there
groups_of() {
	GROUPS_FILE=$1.by-$2
	if [ ! -s "$GROUPS_FILE" ]; then
		expect_read "$1" "$KYMO" summary --json --no-symbols --by "$2" "$1"
		cp "$TMP/stdout" "$GROUPS_FILE"
	fi
}

# by_group WHAT NAME FIELD [FILE]
by_group() {
	groups_of "${4:-$TMP/t.fxt}" "$1"
	gojq -r --arg name "$2" ".groups[] | select(.name == \$name) | .$3" "$GROUPS_FILE"
}

summarize "$TMP/t.fxt"
for kind in service container; do
	pid=$(json "$TMP/$kind.json" .pid)
	path=/$service
	[ $kind = service ] || path=/$container
	assert_eq "$(json "$SUMMARY" ".processes[] | select(.pid == $pid) | .cgroup_path")" "$path" "path of the $kind"
done
assert_ge "$(by_group unit "$service" switches)" 2000 "switches in the service"
assert_ge "$(by_group unit "$service" cpu_ns)" 1 "CPU time in it"
assert_ge "$(by_group container "lxc:kymo-test-$$" switches)" 2000 "switches in the container"
assert_ge "$(by_group container host switches)" 1 "switches in none"
all=$(json "$SUMMARY" '[.threads[].cpu_ns] | add')
for by in unit container process thread; do
	groups_of "$TMP/t.fxt" $by
	assert_eq "$(json "$GROUPS_FILE" '[.groups[].cpu_ns] | add')" "$all" "CPU time of all by $by"
	expect_read "$TMP/t.fxt" "$KYMO" summary --no-symbols --by $by "$TMP/t.fxt"
done
expect_exit 0 "$KYMO" check --strict "$TMP/t.fxt"

note "parts of it, merged again, say the same"
ns=$(json "$SUMMARY" .duration_ns)
expect_exit 0 "$KYMO" cut --to $((ns / 2))ns "$TMP/t.fxt" "$TMP/1.fxt"
expect_exit 0 "$KYMO" cut --from $((ns / 2))ns "$TMP/t.fxt" "$TMP/2.fxt"
expect_exit 0 "$KYMO" merge "$TMP/1.fxt" "$TMP/2.fxt" "$TMP/merged.fxt"
for file in merged repaired; do
	[ $file = merged ] || expect_exit 0 "$KYMO" repair "$TMP/t.fxt" "$TMP/repaired.fxt"
	for unit in "$service" /; do
		assert_eq "$(by_group unit "$unit" cpu_ns "$TMP/$file.fxt")" "$(by_group unit "$unit" cpu_ns)" \
			"CPU time of $unit, $file"
	done
done

note "redacted, nobody knows what it was called"
expect_exit 0 "$KYMO" redact "$TMP/t.fxt" "$TMP/redacted.fxt"
grep -qaF kymo-test-$$ "$TMP/t.fxt" || fail "the name of a cgroup is not in the archive itself"
! grep -qaF kymo-test-$$ "$TMP/redacted.fxt" || fail "the name of a cgroup is in the redacted archive"

# path_of PID: prints the cgroup of PID in the summarized archive
path_of() {
	json "$SUMMARY" "[.processes[] | select(.pid == $1) | .cgroup_path // \"none\"] | last"
}

note "a cgroup that is there for a moment has a path, and so has one that is too deep, for a part"
fleeting=$CGROUP2/kymo-fleeting-$$
deep=$CGROUP2/kymo-deep-$$
long=$(printf 'x%.0s' {1..200})
mkdir "$deep"
at_exit find "$deep" -depth -type d -exec rmdir {} +
# (`cat` prints its pid, by which the test finds it, and is short)
cat >"$TMP/fleeting.sh" <<-END
	# within CGROUP: starts a process there, and moves another one there
	within() {
		bash -c 'echo 0 >"\$1/cgroup.procs"; echo \$\$ >>"$TMP/pids"; exec /bin/true' - "\$1"
	}
	for i in {1..20}; do
		mkdir "$fleeting"
		within "$fleeting"
		rmdir "$fleeting"
	done
	cd "$deep"
	for i in {1..6}; do
		mkdir $long
		cd $long
		within .
	done
	cd "$deep"
	for i in {1..40}; do
		mkdir y
		cd y
	done
	within .
END
record_around "$TMP/fleeting.fxt" -- bash "$TMP/fleeting.sh"
summarize "$TMP/fleeting.fxt"
mapfile -t pids <"$TMP/pids"
for pid in "${pids[@]:0:20}"; do
	assert_eq "$(path_of "$pid")" "/${fleeting##*/}" "path of a cgroup of milliseconds"
done
want=/${deep##*/}
for i in {1..6}; do
	# (768 bytes of it are always used)
	if [ "$i" -lt 5 ]; then want+=/$long; elif [ "$i" = 5 ]; then want+=/...; fi
	assert_eq "$(path_of "${pids[19 + i]}")" "$want" "path at level $((i + 1))"
done
want=/${deep##*/}$(printf '/y%.0s' {1..31})/...
assert_eq "$(path_of "${pids[26]}")" "$want" "path at level 41"
expect_exit 0 "$KYMO" check --strict "$TMP/fleeting.fxt"

note "many cgroups do not keep it busy, and each process is found among them"
storm=$CGROUP2/kymo-storm-$$
mkdir "$storm"
clear_storm() {
	find "$storm" -depth -type d -exec rmdir {} +
}
at_exit clear_storm
# Each command has its own cgroup. Some cgroups exist until the end of the recording.
cat >"$TMP/storm.sh" <<-END
	for i in {1..200}; do
		mkdir "$storm/s\$i"
		echo 0 >"$storm/s\$i/cgroup.procs"
		/bin/true
		if [ \$((i % 20)) = 0 ]; then sleep 600 & fi
	done
	echo 0 >"$CGROUP2/cgroup.procs"
	for pid in \$(jobs -p); do
		until [ "\$(cat /proc/\$pid/comm)" = sleep ]; do :; done
	done
	kill \$(jobs -p)
	wait
END
# storm_cpu_ns NAME: records the storm, and prints the CPU time of the recording
storm_cpu_ns() {
	expect_exit 0 "$KYMO" record --direct -o "$TMP/$1.fxt" -e sched -- bash "$TMP/storm.sh"
	find "$storm" -mindepth 1 -name 's*' -exec rmdir {} +
	summarize "$TMP/$1.fxt"
	json "$SUMMARY" .daemon_cpu_ns
}
few=$(storm_cpu_ns few)
(cd "$storm" && eval 'mkdir {1..20000}')
many=$(storm_cpu_ns many)
note "$((few / 1000000)) ms of CPU time, with 20000 cgroups $((many / 1000000)) ms"
assert_le "$many" $((2 * few + 150000000)) "CPU time with many cgroups"
for file in few many; do
	SUMMARY=$TMP/$file.fxt.summary.json
	for name in sleep:10 true:200; do
		assert_eq "$(json "$SUMMARY" "[.processes[] | select(.name == \"${name%:*}\") | .cgroup_path // \"none\" |
			select(startswith(\"/kymo-storm\"))] | unique | length")" "${name#*:}" \
			"cgroups of ${name%:*} that are known, $file"
	done
done
