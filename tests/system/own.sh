#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A session of one user's own processes contains all of these, and nothing of other users: no names,
# paths, ids, stacks or addresses, whatever other processes run and wake, and whatever happens to
# the user's own processes meanwhile.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command setpriv setcap od

# Two users of the user database, so the bus knows them, without processes.
own=$(id -u uucp) bob=$(id -u news) || skip "there are no users uucp and news"
for uid in $own $bob; do
	assert_eq "$(id -g "$uid")" "$uid" "group of user $uid"
	pgrep -u "$uid" >/dev/null && skip "user $uid has processes"
done

# Names that must not be visible contain this.
mark=hid7zq

chmod 755 "$TMP"
mkdir -m 777 "$TMP/out"
mkdir "$TMP/bin" "$TMP/steps" "$TMP/$mark-dir"
log=$TMP/out/log
touch "$log"
chmod 666 "$log"
cp "$KYMO" "$TMP/bin/kymo"
cp "$OWN_LOAD" "$TMP/bin/ownprog"
for name in root bob down und; do
	cp "$OWN_LOAD" "$TMP/$mark-dir/$mark-$name"
done
cp "$OWN_LOAD" "$TMP/$mark-dir/$mark-suid"
chmod 4755 "$TMP/$mark-dir/$mark-suid"
cp "$OWN_LOAD" "$TMP/$mark-dir/$mark-sgid"
chgrp "$bob" "$TMP/$mark-dir/$mark-sgid"
chmod 2755 "$TMP/$mark-dir/$mark-sgid"
cp "$OWN_LOAD" "$TMP/$mark-dir/$mark-caps"
setcap cap_net_raw+ep "$TMP/$mark-dir/$mark-caps" 2>/dev/null ||
	skip "no file capabilities below ${TMPDIR:-/tmp}"
cp "$OWN_LOAD" "$TMP/$mark-dir/$mark-file"
hidden=$TMP/$mark-dir/$mark

# as UID COMMAND ...
as() {
	local uid=$1

	shift
	setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
}

# The same for jobs, which are the command itself.
exec_as() {
	local uid=$1

	shift
	exec setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
}

[ "$(as "$own" "$hidden-suid" "$log" euid=0 name=probe log && echo yes)" = yes ] ||
	skip "programs get nobody's rights below ${TMPDIR:-/tmp}"
: >"$log"

# Actions of another user's process: each leaves the mark in all possible places.
deeds() {
	echo "name=$mark-$1 log maps spin=60 allocate=20 map=$hidden-file thread=$mark-$1-t nap=15"
}

# steps NAME WORD ...: writes steps to a file, because their words must not be in a command line
steps() {
	local name=$1

	shift
	echo "$@" >"$TMP/steps/$name"
}

# Processes of the user that change to another user.
steps back "name=ownback log maps spin=60 allocate=20 nap=15"
steps suid "name=ownsuid log maps spin=30 exec=$hidden-suid $(deeds s1) fork become=$own $(deeds s2)" \
	"exec=$TMP/bin/ownprog script=$TMP/steps/back"
steps quick "name=ownquick log exec=$hidden-suid name=$mark-s3 map=$hidden-file become=$own" \
	"exec=$TMP/bin/ownprog name=ownquick2 nap=1"
steps toggle "name=owntoggle log exec=$hidden-suid euid=$own $(deeds t1) euid=0 dumpable=1 $(deeds t2) euid=$own dumpable=1 $(deeds t3)"
steps und "name=ownund log maps spin=30 dumpable=0 $(deeds u1)"
steps undback "name=ownund2 log maps spin=30 dumpable=0 name=$mark-u2 spin=60 thread=$mark-u2-t allocate=20 nap=15" \
	"name=ownund3 dumpable=1 log spin=30"
steps caps "name=owncaps log exec=$hidden-caps $(deeds c1) dumpable=1 $(deeds c2)"
steps sgid "name=ownsgid log exec=$hidden-sgid $(deeds g1) dumpable=1 $(deeds g2)"
steps late "name=ownlate log nap=400 dumpable=0 $(deeds u3) nap=2500"

# If there are cgroups, other users' processes are also in cgroups with the mark in their name.
cgroups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -w "$cgroups" ]; then
	at_exit rmdir "$cgroups/$mark-$$-early" "$cgroups/$mark-$$-late"
	mkdir "$cgroups/$mark-$$-early"
fi

# into_cgroup NAME COMMAND ...: runs COMMAND in the cgroup of this name
into_cgroup() {
	(
		[ ! -w "$cgroups" ] || echo 0 >"$cgroups/$mark-$$-$1/cgroup.procs"
		shift
		"$@"
	)
}

mkfifo -m 666 "$TMP/out/fifo"
truncate -s 4096 "$TMP/out/word"
chmod 666 "$TMP/out/word"

start_bus
"$KYMOD" --bus "$BUS" --group "$own" >"$TMP/kymod.log" 2>&1 &
KYMOD_PID=$!
expect_soon 5 "$KYMO" list --bus "$BUS"

# ---- existing processes ----

exec_as "$own" "$TMP/bin/ownprog" "$log" name=ownread log maps "read=$TMP/out/fifo" &
exec_as "$own" "$TMP/bin/ownprog" "$log" name=ownwait log maps "wait=$TMP/out/word,50" &
exec_as "$own" "$TMP/bin/ownprog" "$log" name=ownsig log maps signals=60000 &
signalled=$!
exec_as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/late" &
into_cgroup early exec_as "$bob" "$hidden-bob" "$log" name=$mark-b1 log maps nap=1 spin=500 thread=$mark-b1-t nap=1500 &
into_cgroup early exec "$hidden-root" "$log" name=$mark-r1 log maps spin=500 thread=$mark-r1-t nap=1500 &
"$hidden-down" "$log" become="$own" name=$mark-d1 log maps spin=300 nap=3000 &
for name in ownread ownwait ownsig $mark-b1 $mark-r1 $mark-d1; do
	expect_soon 10 grep -q "^proc $name " "$log"
done
(for ((i = 0; i < 60; i++)); do
	as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/quick"
done) &
quick=$!

# ---- the recording ----

archive=$TMP/out/own.fxt
exec_as "$own" "$TMP/bin/kymo" record --own --bus "$BUS" -o "$archive" -F 999 --memory-log --reach look \
	-e sched,profile,offcpu,waker-stacks,memory,fd,shm,threads >"$TMP/record.log" 2>&1 &
recorder=$!
# Whether the session is in state $1. Its status is then in $TMP/status.json.
is_in_state() {
	as "$own" "$TMP/bin/kymo" status "record_$recorder" --json --bus "$BUS" >"$TMP/status.json" &&
		holds "$TMP/status.json" ".[0].state == \"$1\""
}
# Waits until the session runs, or the recorder has given up: on emulated and busy processors,
# programs take longer to load than the recorder waits (ANSWER_USEC, cli/bus/bus-call.h).
has_begun_or_ended() {
	is_in_state running || is_gone "$recorder"
}
wait_until_it_runs() {
	expect_soon 30 has_begun_or_ended
	! is_gone "$recorder" || fail "no recording: $(cat "$TMP/record.log")"
}
wait_until_it_runs
assert_eq "$(json "$TMP/status.json" '.[0].options.own')" true "option own"

# (some kernels hide the activity of a supervisor: if a switch-in is hidden, the thread is seen only
# at its switch-out)
# shellcheck disable=SC2046
as "$own" "$TMP/bin/ownprog" "$log" name=ownwork log maps $(printf 'spin=20 nap=1 %.0s' {1..15}) allocate=70 thread=ownthread nap=20 \
	fork name=ownchild log maps spin=50
for name in suid toggle und undback caps sgid; do
	as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/$name"
done
# shellcheck disable=SC2046 # words
as "$own" "$hidden-suid" "$log" $(deeds s4)
# shellcheck disable=SC2046
"$hidden-down" "$log" $(deeds r2) become="$own" $(deeds d2) fork $(deeds d3)
sig=$(awk '$2 == "ownsig" { print $3; exit }' "$log")
"$hidden-root" "$log" name=$mark-r3 log maps "wake=$TMP/out/word,50" "signal=$sig,20" thread=$mark-r3-t
[ ! -w "$cgroups" ] || mkdir "$cgroups/$mark-$$-late"
into_cgroup late as "$bob" "$hidden-bob" "$log" name=$mark-b2 log maps "write=$TMP/out/fifo,60" thread=$mark-b2-t
namespace=
if as "$own" unshare -Ur true 2>/dev/null; then
	namespace=yes
	as "$own" unshare -Ur "$TMP/bin/ownprog" "$log" name=ownspace log maps spin=60 thread=ownspace-t
fi
wait "$quick"
kill "$signalled"
sleep 0.6
kill -INT "$recorder"
wait "$recorder" || fail "recording failed: $(cat "$TMP/record.log")"

summarize "$archive"
dump_records "$archive"
assert_no_loss

# ---- nothing of other users ----

note "no byte of others' names, paths and command lines"
assert_eq "$(grep -ac "$mark" "$archive")" 0 "lines with a hidden name in the archive"
assert_eq "$(grep -c "$mark" "$DUMP")" 0 "records with a hidden name"
assert_ge "$(grep -c "^proc $mark" "$log")" 30 "hidden threads that there were"

note "no ids of others"
# (a process may have been the user's before, or have become the user's)
awk '$1 == "proc" && $2 ~ /^own/ { print $3; print $4 }' "$log" | sort -u >"$TMP/own-ids"
awk -v mark="^$mark" '$1 == "proc" && $2 ~ mark { print $3; print $4 }' "$log" | sort -u |
	comm -23 - "$TMP/own-ids" >"$TMP/hidden-ids"
echo $$ "$BASHPID" "$KYMOD_PID" | tr ' ' '\n' >>"$TMP/hidden-ids"
assert_ge "$(wc -l <"$TMP/hidden-ids")" 25 "hidden ids"
gojq -r '[.process_id, .thread_id, .koid, .outgoing_thread_id, .incoming_thread_id, .waking_thread_id,
	(.args? // [] | .[] | select(.type == "koid" or .name == "real_id") | .value)] |
	.[] | select(. != null)' "$DUMP" | sort -u >"$TMP/shown-ids"
assert_ge "$(comm -12 "$TMP/own-ids" "$TMP/shown-ids" | wc -l)" 10 \
	"the user's own ids that are shown"
sort -u "$TMP/hidden-ids" | comm -12 - "$TMP/shown-ids" >"$TMP/leaked"
assert_empty "$TMP/leaked" "ids of others"
gojq -r 'select(.record == "kernel_object") | .args[] | select(.name == "uid") | .value' "$DUMP" |
	sort -u >"$TMP/uids"
assert_eq "$(cat "$TMP/uids")" "$own" "users in the archive"

note "no addresses of the kernel"
gojq -r '(.backtrace? // [] | .[]), (.args? // [] | .[] | select(.type == "pointer") | .value) |
	select(. >= 9223372036854775808)' "$DUMP" >"$TMP/leaked"
assert_empty "$TMP/leaked" "addresses of the kernel"
gojq -r 'select(.name == "mapping" and .process_id == 2) | .args' "$DUMP" >"$TMP/leaked"
grep -F 'kernel.kallsyms' "$DUMP" >>"$TMP/leaked" || true
assert_empty "$TMP/leaked" "mappings of the kernel"

note "no addresses of others"
# Addresses that are mapped in programs of other users, but not in the user's own. The page of
# out-of-line instructions ([uprobes]) is the last one in all programs that have probes, and some of
# the user's may have got it after they logged their mappings.
last_page=$(((1 << 47) / 4096 - 2))
awk -v mark="^$mark" -v last=$last_page '$1 == "map" && $2 ~ mark && $3 != last * 4096 { print $3 }' "$log" | sort -u >"$TMP/hidden-maps"
awk '$1 == "map" && $2 ~ /^own/ { print $3 }' "$log" | sort -u >"$TMP/own-maps"
comm -23 "$TMP/hidden-maps" "$TMP/own-maps" >"$TMP/hidden-starts"
assert_ge "$(wc -l <"$TMP/hidden-starts")" 100 "hidden mappings"
gojq -r 'select(.name == "mapping") | .args[] | select(.name == "start") | .value' "$DUMP" |
	sort -u >"$TMP/shown-starts"
assert_ge "$(comm -12 "$TMP/own-maps" "$TMP/shown-starts" | wc -l)" 10 \
	"the user's own mappings that are shown"
comm -12 "$TMP/shown-starts" "$TMP/hidden-starts" >"$TMP/leaked"
assert_empty "$TMP/leaked" "mappings of others"
# Frames and blocks, page by page. For processes of the user that log nothing, the mappings are
# taken from the archive itself.
# pages PATTERN: prints the mapped pages of processes with matching names
pages() {
	awk -v pattern="$1" '$1 == "map" && $2 ~ pattern {
		for (p = int($3 / 4096); p < $4 / 4096; p++)
			printf "%.0f\n", p
	}' "$log" | sort -u
}
{
	pages ^own
	awk '$1 == "proc" { print $3 }' "$log" | sort -u >"$TMP/who-log"
	gojq -r 'select(.name == "mapping") | [(.args | map(select(.name == "process" or .name == "start" or .name == "size") |
		.value))[]] | @tsv' "$DUMP" | awk 'NR == FNR { logs[$1]; next }
		!($1 in logs) { for (p = int($2 / 4096); p < ($2 + $3) / 4096; p++) printf "%.0f\n", p }' "$TMP/who-log" -
} | sort -u >"$TMP/own-pages"
pages "^$mark" | grep -vx $last_page | comm -23 - "$TMP/own-pages" >"$TMP/hidden-pages"
assert_ge "$(wc -l <"$TMP/hidden-pages")" 1000 "hidden pages"
gojq -r '(.backtrace? // [] | .[]), (.args? // [] | .[] | select(.type == "pointer") | .value) |
	select(. < 9007199254740992) / 4096 | floor' "$DUMP" | sort -u >"$TMP/shown-pages"
assert_ge "$(comm -12 "$TMP/own-pages" "$TMP/shown-pages" | wc -l)" 10 \
	"the user's own pages that are shown"
comm -12 "$TMP/shown-pages" "$TMP/hidden-pages" >"$TMP/leaked"
assert_empty "$TMP/leaked" "pages of others"

# ---- all of the user's own ----

note "the user's own is there"
# id NAME: prints the id of the process with this name
id_of() {
	awk -v name="$1" '$2 == name { print $3; exit }' "$log"
}
for name in ownwork ownchild ownthread ownback ownund ownund2 ownund3 ownread ownwait ownsig ownsuid; do
	assert_ge "$(json "$SUMMARY" "[.threads[] | select(.tid == $(awk -v name=$name \
		'$2 == name { print $4; exit }' "$log"))] | length")" 1 "thread $name"
done
[ ! "$namespace" ] || assert_ge "$(json "$SUMMARY" "[.threads[] | select(.name == \"ownspace-t\")] | length")" 1 \
	"a thread in a namespace of the user's"
work=$(id_of ownwork)
assert_within "$(thread "$work" cpu_ns)" 300000000 30 "CPU time of ownwork"
for name in exec exit mapping fork; do
	# (mappings are on a separate thread)
	events $name | gojq -r '.args.process // .process_id' >"$TMP/$name.ids"
	assert_ge "$(grep -cx "$work" "$TMP/$name.ids")" 1 "$name of ownwork"
done
events mapping | gojq -r "select(.args.process == $(id_of ownback)) | .args.path" >"$TMP/paths"
assert_contains "$TMP/paths" '/ownprog$' "the mappings of ownback"
events mapping | gojq -r "select(.args.process == $(id_of ownread)) | .args.path" >"$TMP/paths"
assert_contains "$TMP/paths" '/ownprog$' "the mappings of ownread"
"$LIST_STACKS" "$archive" >"$TMP/stacks"
assert_ge "$(awk -v p="$work" '$1 == "tick" && $3 == p && /ownprog\+/' "$TMP/stacks" | wc -l)" 100 \
	"samples of ownwork in its program"
events block | gojq -r "select(.process_id == $work and .args.resource == \"memory\") | .args.size" |
	grep -cx 1000 >"$TMP/blocks" || true
assert_ge "$(cat "$TMP/blocks")" 70 "blocks that ownwork kept"
wakeups >"$TMP/wakeups"
for name in ownread:10 ownwait:10 ownsig:5; do
	tid=$(id_of "${name%:*}")
	# (without names: the pseudo-thread for other threads on each CPU)
	assert_ge "$(awk -v tid="$tid" '$3 == tid && $4 > 4194304' "$TMP/wakeups" | wc -l)" "${name#*:}" \
		"wakeups of ${name%:*} by others, who are not named"
done
assert_ge "$(awk -v tid="$work" '$3 == tid && $4 != 0' "$TMP/wakeups" | wc -l)" 1 \
	"wakeups of ownwork by its own threads and children"
events exit | gojq -r .process_id | grep -cx "$(id_of ownund)" >"$TMP/exits" || true
assert_eq "$(cat "$TMP/exits")" 0 "exits of what was not the user's any more"

note "nothing of others after a loss"
# While the rings are not emptied, the kernel's own ring becomes full, so begins and ends of
# programs are missing.
steps flood "name=ownflood log exec=$hidden-suid name=$mark-f1 log map=$hidden-file flood=$TMP/bin/ownprog,8000" \
	"map=$hidden-file become=$own exec=$TMP/bin/ownprog name=ownflood2 spin=5 nap=5"
exec_as "$own" "$TMP/bin/kymo" record --own --bus "$BUS" -o "$TMP/out/loss.fxt" -F 999 -e profile >"$TMP/record.log" 2>&1 &
recorder=$!
wait_until_it_runs
kill -STOP "$KYMOD_PID"
as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/flood"
kill -CONT "$KYMOD_PID"
for _ in 1 2 3; do
	as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/flood"
done
kill -STOP "$KYMOD_PID"
as "$own" "$TMP/bin/ownprog" "$log" "script=$TMP/steps/flood"
kill -CONT "$KYMOD_PID"
sleep 0.6
kill -INT "$recorder"
expect_recorded "$TMP/out/loss.fxt" finished "$recorder" "$TMP/record.log"
summarize "$TMP/out/loss.fxt"
assert_ge "$(json "$SUMMARY" '.lost.mappings')" 1 "mappings that were lost"
assert_eq "$(grep -ac "$mark" "$TMP/out/loss.fxt")" 0 "lines with a hidden name after a loss"

note "requests for the whole machine are refused"
for category in irq softirq workqueue power block counters; do
	expect_exit 2 as "$own" "$TMP/bin/kymo" record --own -e $category --bus "$BUS" -o "$TMP/out/no.fxt"
	assert_contains "$TMP/stderr" '--own: .*whole machine' "complaint about $category"
done

note "root's own"
"$hidden-root" "$log" name=rootown nap=1500 &
root=$!
exec_as "$own" "$TMP/bin/ownprog" "$log" name=notroots log nap=1500 &
expect_soon 10 grep -q '^proc notroots ' "$log"
record_around "$TMP/root.fxt" --own -d 300ms -e sched,profile
summarize "$TMP/root.fxt"
dump_records "$TMP/root.fxt"
assert_eq "$(gojq -r 'select(.record == "kernel_object") | .args[] | select(.name == "uid") | .value' "$DUMP" |
	sort -u)" 0 "users in root's archive"
assert_ge "$(grep -ac rootown "$TMP/root.fxt")" 1 "names of root's there"
assert_eq "$(grep -ac notroots "$TMP/root.fxt")" 0 "names of other users there"
wait "$root"
