#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Times off CPU have the correct durations, and the stacks of the switch-outs. Their times equal
# those of the switches.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../judge-words.sh"
need_btf
need_command nm
need_command gcc
need_bus

# find_function NAME: sets $from and $to, its range in the file of $STACK_LOAD (16 digits, so that
# text comparison works)
find_function() {
	local at size

	read -r at size _ < <(nm -S "$STACK_LOAD" | awk -v n="$1" '$4 == n')
	from=$(printf %016x "0x$at")
	to=$(printf %016x $((0x$at + 0x$size)))
}

record_waits() {
	record_around "$TMP/t.fxt" -e sched,offcpu --offcpu-min 5ms -- "$STACK_LOAD" wait 20
	cp "$TMP/stdout" "$TMP/truth.json"
	json "$TMP/truth.json" '.waits[] | [.name, .tid, .n, .ns, .delay_ns] | @tsv' >"$TMP/waits"
	kinds=$(wc -l <"$TMP/waits")
}

judge_waits() {
	local main name tid n ns delay_ns total waker

	"$LIST_STACKS" "$TMP/t.fxt" | grep '^offcpu' >"$TMP/stacks"
	summarize "$TMP/t.fxt"
	assert_no_loss

	assert_ge "$kinds" 3 "kinds of waits"
	main=$(json "$TMP/truth.json" .pid)
	while read -r name tid n ns delay_ns; do
		find_function "$name"
		# The innermost frame of the program is the function that waits. (If the kernel did not
		# report a switch, the kernel's frames are unknown.)
		awk -v tid="$tid" -v program="$STACK_LOAD+" -v from="$from" -v to="$to" '
			$4 == tid {
				for (f = 8; f <= NF && $f ~ /^kernel:/; f++);
				at = substr($f, length(program) + 1)
				if (index($f, program) != 1 || at "" < from "" || at "" > to "")
					next
				printf "%s %s %s %s %s\n", $2, $5, $6, $7, (f > 8)
			}' "$TMP/stacks" >"$TMP/found"
		assert_ge "$(wc -l <"$TMP/found")" "$n" "times off CPU in $name"
		assert_ge "$(awk '$5' "$TMP/found" | wc -l)" $((n * 3 / 4)) "times with the kernel's frames in $name"
		total=$(awk '{ t += $2 - $1 } END { printf "%d", t }' "$TMP/found")
		note "$name: $n times, $((ns / 1000)) us as seen from inside, $((total / 1000)) us in the archive"
		# If a thread waits for a CPU before it sleeps, or is preempted for less than the shortest
		# recorded time, the program counts this as a part of its wait.
		assert_le "$total" $((ns + ns / 50)) "time in $name"
		assert_ge "$total" $((ns - ns / 50 - delay_ns)) "time in $name"
		# (on a busy machine, preemptions are long, too)
		assert_ge "$(awk '$3 == "S"' "$TMP/found" | wc -l)" "$n" "times asleep in $name"
		assert_eq "$(awk '$3 != "S" && $3 != "R"' "$TMP/found" | wc -l)" 0 "times in other states in $name"
		case $name in
		wait_in_sleep) waker=0 ;; # a timer
		*) waker=$main ;;
		esac
		assert_ge "$(awk -v w="$waker" '$4 == w' "$TMP/found" | wc -l)" $((n - 1)) \
			"times that $waker woke $name"
	done <"$TMP/waits"

	# Times off CPU of all threads of the machine begin and end with a switch of that thread.
	dump_records "$TMP/t.fxt"
	switches | awk '{ print "out", $1, $3; print "in", $1, $4 }' | sort >"$TMP/switches"
	# (Only times with an unreported end have no frames of the kernel.)
	awk '{ print "out", $2, $4; if ($8 ~ /^kernel:/) print "in", $5, $4 }' "$TMP/stacks" | sort >"$TMP/ends"
	assert_eq "$(comm -13 "$TMP/switches" "$TMP/ends" | wc -l)" 0 "ends that are no switch"
	assert_eq "$(awk '$5 - $2 < 5000000' "$TMP/stacks" | wc -l)" 0 "times below the threshold"

	# None is missing: every time off CPU of the waiters, according to the switches.
	while read -r name tid _; do
		switches | awk -v tid="$tid" '
			$3 == tid && !$6 { left = $1 }
			$4 == tid && left { if ($1 - left >= 5000000) n++; left = 0 }
			END { print n + 0 }' >"$TMP/n"
		assert_eq "$(awk -v tid="$tid" '$4 == tid' "$TMP/stacks" | wc -l)" "$(cat "$TMP/n")" \
			"times that $name was away"
	done <"$TMP/waits"
}

record_and_judge "$TMP/t.fxt" record_waits judge_waits
[ "$kinds" -gt 3 ] || note "not tested: page faults of a known length (no userfaultfd)"

note "mappings stand before the first stack that needs them"
# A process whose mappings take half a second or more to list, much longer than the first records
# are delayed. After it in the list, a process that leaves its CPU a thousand times per second
# during this time.
"$KYMO_LOAD" mapped 60000 5 >"$TMP/mapped" &
mapped=$!
expect_soon 60 test -s "$TMP/mapped"
"$KYMO_LOAD" sleep 100000 1000 >/dev/null &
often=$!
expect_soon 5 is_asleep "$often"
expect_recorded "$TMP/first.fxt" "$KYMO" record --direct -e offcpu --offcpu-min 500us -o "$TMP/first.fxt" -- sleep 1
kill "$mapped" $often
# (mappings are used in the order of the file)
"$LIST_STACKS" "$TMP/first.fxt" | awk -v pid=$often '
	$1 == "offcpu" && $3 == pid {
		for (f = 8; f <= NF && $f ~ /^kernel:/; f++);
		all++
		unmapped += $f ~ /^unmapped:/
	}
	END { print all + 0, unmapped + 0 }' >"$TMP/first"
read -r all unmapped <"$TMP/first"
assert_ge "$all" 20 "times off CPU of a process that was there before"
assert_eq "$unmapped" 0 "of these before what it has mapped (of $all)"

note "a thread that still waits at the end"
cat >"$TMP/blocked.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	__attribute__((noinline)) void blocked_here(void) { pthread_mutex_lock(&held); asm volatile(""); }
	static void *thread(void *go)
	{
		getc(go); /* when the recording has begun */
		blocked_here();
		return NULL;
	}
	int main(void)
	{
		pthread_t t;
		pthread_mutex_lock(&held);
		pthread_create(&t, NULL, thread, stdin);
		return pthread_join(t, NULL);
	}
END
gcc -O2 -g -pthread -o "$TMP/blocked" "$TMP/blocked.c"
mkfifo "$TMP/go"
"$TMP/blocked" <"$TMP/go" &
blocked=$!
exec 7>"$TMP/go"
# n_waits WCHAN: prints how many threads of the program wait there
n_waits() {
	cat "/proc/$blocked/task/"*/wchan | { grep -o "$1" || true; } | wc -l
}
both_begun() {
	[ "$(n_waits futex) $(n_waits pipe)" = "1 1" ]
}
expect_soon 10 both_begun
expect_exit 0 "$KYMO" record --direct -e offcpu -p $blocked -o "$TMP/blocked.fxt" -- bash -c "echo >'$TMP/go'
	until [ \"\$(cat /proc/$blocked/task/*/wchan | grep -o futex | wc -l)\" = 2 ]; do :; done
	sleep 0.7"
exec 7>&-
kill $blocked
expect_exit 0 "$KYMO" flame --off-cpu "$TMP/blocked.fxt" --format folded -o -
cp "$TMP/stderr" "$TMP/told"
waited=$(awk '/;blocked_here;/ { t += $NF } END { printf "%d", t }' "$TMP/stdout")
assert_ge "$waited" 600000000 "time in the function that waits at the end"
assert_says "$TMP/told" "2 of the times off CPU continued at the end" "the answer of flame about it"
assert_says "$TMP/told" '2 of the times off CPU had begun before' "the answer of flame about the others"
"$LIST_STACKS" "$TMP/blocked.fxt" >"$TMP/stacks"
# (main() waits for the thread all the time; the thread first waits for its input)
assert_eq "$(grep -c '^waiting' "$TMP/stacks")" 2 "times that are marked as unfinished"
assert_eq "$(grep -c "^earlier .* $TMP/blocked+" "$TMP/stacks")" 1 "times that end in the recording"
expect_exit 0 "$KYMO" summary --json "$TMP/blocked.fxt"
assert_eq "$(awk '/^waiting/ { print $5 }' "$TMP/stacks" | sort -u)" "$(json "$TMP/stdout" .end_ns)" "the end of the wait, and of the recording"
check_finds_nothing "$TMP/blocked.fxt"

note "threads that wait since before the recording"
"$TMP/blocked" </dev/null &
blocked=$!
both_wait() {
	[ "$(n_waits futex)" = 2 ]
}
expect_soon 10 both_wait
expect_exit 0 "$KYMO" record --direct -e offcpu -p $blocked -o "$TMP/present.fxt" -- sleep 0.3
expect_exit 0 "$KYMO" flame --off-cpu "$TMP/present.fxt" --format folded -o -
cp "$TMP/stderr" "$TMP/told"
assert_eq "$(grep -cE '^blocked;.*;thread;blocked_here;' "$TMP/stdout")" 1 "stacks of the thread"
assert_eq "$(grep -cE '^blocked;.*;main;.*join' "$TMP/stdout")" 1 "stacks of main()"
assert_ge "$(awk '{ t += $NF } END { printf "%d", t }' "$TMP/stdout")" 600000000 "time of both"
assert_says "$TMP/told" '2 of the times off CPU had begun before' "the answer of flame about it"
assert_eq "$(grep -c 'no frames of the program' "$TMP/told")" 0 "stacks that are said to be missing"
check_finds_nothing "$TMP/present.fxt"
expect_exit 0 "$KYMO" record --direct -e offcpu --stacks none -p $blocked --force -o "$TMP/present.fxt" -- sleep 0.1
expect_exit 0 "$KYMO" flame --off-cpu "$TMP/present.fxt" --format folded --json --force -o "$TMP/folded"
assert_eq "$(json "$TMP/stdout" '"\(.earlier_waits) \(.earlier_waits_without_stack)"')" "2 2" "times without stacks"
kill $blocked
# The pages of such a stack come from a program that never gives them.
cat >"$TMP/strange.c" <<-'END'
	#include <fcntl.h>
	#include <linux/userfaultfd.h>
	#include <sys/ioctl.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(void)
	{
		struct uffdio_api api = { .api = UFFD_API };
		int fd = (int)syscall(SYS_userfaultfd, 0);
		char *pages = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct uffdio_register r = { { (unsigned long)pages, 65536 }, UFFDIO_REGISTER_MODE_MISSING, 0 };
		if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r))
			return 77;
	#if defined(__x86_64__)
		asm volatile("mov %0, %%rsp; mov %1, %%eax; syscall" : : "r"(pages + 32768), "i"(SYS_pause) : "memory");
	#endif
		return 77;
	}
END
gcc -O2 -o "$TMP/strange" "$TMP/strange.c"
"$TMP/strange" &
strange=$!
sleeps_or_ends() {
	is_asleep "$strange" || ! kill -0 "$strange" 2>/dev/null
}
expect_soon 10 sleeps_or_ends
if kill -0 "$strange" 2>/dev/null; then
	expect_exit 0 timeout "$(limit 30)" "$KYMO" record --direct -e offcpu -p $strange -o "$TMP/strange.fxt" -- sleep 0.1
	expect_exit 0 "$KYMO" flame --off-cpu "$TMP/strange.fxt" --format folded -o -
	assert_says "$TMP/stderr" '1 of these without frames of the program' "the answer of flame about it"
	kill $strange
else
	note "not tested: a stack that another program provides (no userfaultfd)"
fi

note "a file whose table never comes: a limited number of copies"
cat >"$TMP/tableless.c" <<-'END'
	#include <stdio.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(void)
	{
		char *code = (char *)((unsigned long)main & -4096ul), *more;
		int command;
		more = mmap(NULL, 16384, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		while ((command = getchar()) != EOF) {
			for (int i = 0; i < 200 && command == 'w'; i++)
				usleep(1000);
			for (int i = 0; i < 100 && command == 'p'; i++) {
				int right = i % 2 ? 0 : PROT_WRITE;
				if (mprotect(code, 4096, PROT_READ | PROT_EXEC | right) ||
				    mprotect(more + 4096, 4096, PROT_READ | PROT_EXEC | right))
					return 1;
			}
			putchar(command);
			fflush(stdout);
		}
		return 0;
	}
END
gcc -O2 -o "$TMP/tableless" "$TMP/tableless.c"
# Its table is taken away in the middle of the recording, and nearly all of the copies.
cat >"$TMP/take-table" <<-'END'
	# (of this recording: others can have begun meanwhile)
	find_map() {
		bpftool -j map show | gojq --arg name "$1" --argjson held \
			"$(cat "/proc/$PPID/fdinfo/"* 2>/dev/null | awk '$1 == "map_id:" { print $2 }' | gojq -sc .)" \
			'.[] | select(.name == $name and (.id | IN($held[]))) | .id'
	}
	# tell COMMAND: the program does it
	tell() {
		local done

		echo -n "$1" >&8
		read -r -N 1 -u 9 done
	}
	# sequence: of the changes of the program's mappings
	sequence() {
		bpftool -j map lookup id "$processes" key $key | gojq .formatted.value.sequence
	}
	file() {
		bpftool -j map lookup id "$files" key $number 0 0
	}
	set -e
	processes=$(find_map unwind_processe) files=$(find_map unwind_files)
	key="$((pid & 255)) $((pid >> 8 & 255)) $((pid >> 16 & 255)) 0"
	sequence >"$TMP/before"
	tell p
	sequence >"$TMP/after"
	# (UNWIND_FILE_READY)
	find_ready() {
		number=$(bpftool -j map dump id "$files" | gojq -r --argjson inode "$(stat -c %i "$TMP/tableless")" \
			'.[] | select(.formatted.value | .inode == $inode and .state == 2) | .formatted.key | "\(. % 256) \(. / 256 | floor)"')
		[ "$number" ]
	}
	until find_ready; do
		sleep 0.05
	done
	set -- $(file | gojq -r '.value[]')
	# (state: UNWIND_FILE_ASKED; copied_waits: 1014 of 1024)
	bpftool map update id "$files" key $number 0 0 value 1 0 0 0 ${*:5:40} 246 3 0 0 ${*:49}
	tell w
	file | gojq '.formatted.value | .state, .copied_waits' >"$TMP/file"
END
mkfifo "$TMP/commands" "$TMP/answers"
"$TMP/tableless" <"$TMP/commands" >"$TMP/answers" &
pid=$!
exec 8>"$TMP/commands" 9<"$TMP/answers"
export TMP pid
expect_exit 0 "$KYMO" record --direct -e offcpu -p $pid -o "$TMP/tableless.fxt" -- bash "$TMP/take-table"
exec 8>&- 9>&-
assert_contains "$TMP/before" '^[0-9]+$' "a number of changes"
assert_eq "$(cat "$TMP/after")" "$(cat "$TMP/before")" "changes of mappings that are there already"
assert_eq "$(paste -sd ' ' "$TMP/file")" "1 1024" "the file, and the copies for its table"

# If a kernel hides a switch, the return of a thread is seen only when it leaves again, after the
# end of the system call in which it waited.
note "no time off CPU goes on behind the system call in which the thread waits"
"$KYMO_LOAD" sleep 100000 100 >/dev/null &
napper=$!
expect_soon 5 is_asleep "$napper"
expect_exit 0 "$KYMO" record --direct -e sched,offcpu,calls --call 'syscall:*nanosleep' -p $napper -d 800ms -o "$TMP/naps.fxt"
kill $napper
expect_exit 0 "$KYMO" check --all "$TMP/naps.fxt"
assert_eq "$(grep -c complete-overlap "$TMP/stdout")" 0 "durations that overlap"
assert_ge "$("$LIST_STACKS" "$TMP/naps.fxt" | awk -v pid=$napper '$1 == "offcpu" && $3 == pid' | wc -l)" 100 \
	"times off CPU of naps"
dump_records "$TMP/naps.fxt"
assert_ge "$({ grep -c 'nanosleep' "$DUMP" || true; })" 100 "calls of nanosleep"

note "page faults that wait for a disk"
dd if=/dev/zero of="$TMP/pages" bs=1M count=16 2>/dev/null
sync "$TMP/pages"
record_around "$TMP/disk.fxt" -e offcpu --offcpu-min 1us -- "$STACK_LOAD" disk "$TMP/pages"
faults=$(json "$TMP/stdout" .disk_faults) slept=$(json "$TMP/stdout" .disk_waits)
pid=$(json "$TMP/stdout" .pid)
expect_exit 0 "$KYMO" flame --off-cpu -p "$pid" "$TMP/disk.fxt" --format folded -o -
# (functions of the program by name; names of kernel functions depend on the kernel)
awk '/(^|;)main;read_pages;wait_on_disk;/ { t += $NF } END { printf "%d", t }' "$TMP/stdout" >"$TMP/waited"
find_function wait_on_disk
"$LIST_STACKS" "$TMP/disk.fxt" | awk -v pid="$pid" -v program="$STACK_LOAD+" -v from="$from" -v to="$to" '
	$1 == "offcpu" && $3 == pid {
		for (f = 8; f <= NF && $f ~ /^kernel:/; f++);
		at = substr($f, length(program) + 1)
		if (index($f, program) == 1 && at "" >= from "" && at "" <= to "")
			print $5 - $2
	}' >"$TMP/found"
n=$(wc -l <"$TMP/found")
total=$(awk '{ t += $1 } END { printf "%d", t }' "$TMP/found")
note "$faults faults read from the disk, for $slept the kernel let it sleep, $n waits in the program, $((total / 1000)) us"
if [ "$slept" -ge 50 ]; then
	# (a page that is available at once causes no wait, and a wait may be shorter than a
	# microsecond)
	assert_ge "$n" $((slept * 9 / 10)) "waits for the disk"
	assert_within "$(cat "$TMP/waited")" "$total" 2 "time in that stack, by name"
else
	note "not tested: the file is never out of memory here, or the disk is as fast"
fi

note "without the category sched, and of one process only"
start_bus
start_kymod
start_stack_load wait 20
expect_exit 0 "$KYMO" start one -o "$TMP/t.fxt" --force -e offcpu -p "$STACK_LOAD_PID" --bus "$BUS"
go_stack_load
expect_exit 0 "$KYMO" stop one --bus "$BUS"
end_stack_load
"$LIST_STACKS" "$TMP/t.fxt" | grep '^offcpu' >"$TMP/stacks"
assert_ge "$(wc -l <"$TMP/stacks")" $((20 * kinds)) "times off CPU"
assert_eq "$(awk '{ print $3 }' "$TMP/stacks" | sort -u)" "$STACK_LOAD_PID" "processes"
dump_records "$TMP/t.fxt"
assert_eq "$({ grep -c '"context_switch"' "$DUMP" || true; })" 0 "switches"
assert_eq "$({ grep -c unmapped: "$TMP/stacks" || true; })" 0 "stacks with a frame in no mapping"

# Programs are detached one after the other, while threads are switched: no time off CPU begins
# after its end.
note "a storm of processes that is still there at the end"
for _ in {1..3}; do
	"$KYMO_LOAD" --life 100 --at-once 100 procs 3000 >"$TMP/storm.json" &
	storm=$!
	expect_recorded "$TMP/storm.fxt" "$KYMO" record --direct -e sched,profile,offcpu --offcpu-min 1us -b 32M -d 500ms --force -o "$TMP/storm.fxt"
	summarize "$TMP/storm.fxt"
	assert_eq "$(json "$SUMMARY" '.lost.malformed // 0')" 0 "records that make no sense"
	wait $storm
done
