#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Moments: variables, registers and memory at points of a program have the values that the program
# prints. Conditions and counts are correct. Points count, stop the recording, and cause a snapshot
# of a flight recorder, also through the service. Moments can be cut, and gdb shows them as it shows
# a live program.


. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "moments are recorded on x86-64"
remember_bpf

cat >"$TMP/prog.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	struct point { int x, y; const char *name; };
	enum color { RED, GREEN, BLUE };
	int global = 7;
	__attribute__((noinline)) int handle(int id, struct point *p, const char *text, size_t n, enum color c)
	{
		char local[32];
		int sum = id + p->x;
		snprintf(local, sizeof(local), "%s-%d", text, sum);
		global += sum;
		printf("%d %d \"%s\" %d\n", id, sum, local, global); /* line 14 */
		return sum + (int)n + (int)c + local[0];
	}
	int main(int argc, char **argv)
	{
		char *text = malloc(16);
		int sum = 0;
		strcpy(text, "hello");
		for (int i = 0; i < 8; i++) {
			struct point p = { i * 10, -i, "pt" };
			sum += handle(i, &p, text, strlen(text), (enum color)(i % 3));
		}
		return argc > 5 ? sum : 0;
	}
END
# count [FILE]: handles eight ids, or with FILE, ids until FILE no longer exists
cat >"$TMP/count.c" <<-'END'
	#include <unistd.h>
	#include "static-probe.h"
	int odd;
	__thread int own = 3;
	__attribute__((section(".probes"))) volatile unsigned short handled_semaphore;
	long table[] = { 0, 100, 200, 300, 400 };
	__attribute__((noinline)) void strange(int id) { odd += id + own; }
	__attribute__((noinline)) void handle(int id)
	{
		char text[] = "a text";
		if (handled_semaphore)
			PROBE("handled", "handled_semaphore", "-4@%0 8@%1 1@%h2", "r"(id), "r"(text), "Q"(id << 8), "m"(text));
		PROBE("indexed", "0", "8@8(%0,%1,8) -8@table+16(%%rip) 1@-1(%2,%1)", "r"(table), "r"(id % 4L), "r"(text + 1), "m"(text));
		if (id % 2)
			strange(id);
	}
	__attribute__((noinline)) void many(int *list, int n)
	{
		for (int i = 0; i < n; i++)
			odd += list[i];
		__asm__ volatile("" ::: "memory");
	}
	int main(int argc, char **argv)
	{
		int list[] = { 7, 8, 9, 10 };
		for (int i = 0; argc > 1 ? access(argv[1], F_OK) == 0 : i < 8; i++) {
			handle(i);
			many(list, i % 4 - 1);
			if (argc > 1)
				usleep(10000);
		}
		return 0;
	}
END
gcc -g -O0 -I "$ROOT/tests/support/loads" -o "$TMP/count" "$TMP/count.c"
gcc -g -O2 -I "$ROOT/tests/support/loads" -o "$TMP/count-O2" "$TMP/count.c"
strip -o "$TMP/count-bare" "$TMP/count-O2"
for opt in O0 O2; do
	gcc -g -$opt -o "$TMP/prog-$opt" "$TMP/prog.c"
done

# moments SPEC ...: records "$TMP/prog-O0". Its output is in $TMP/truth, and its moments as JSON in
# $TMP/moments.
moments() {
	expect_exit 0 "$KYMO" record --direct --force -e moments "${@:2}" -o "$TMP/m.fxt" -- "$1"
	cp "$TMP/stdout" "$TMP/truth"
	check_finds_nothing "$TMP/m.fxt"
	expect_exit 0 "$KYMO" moments --json --registers --stack-trace "$TMP/m.fxt"
	cp "$TMP/stdout" "$TMP/moments"
}

for opt in O0 O2; do
	note "$opt: variables at a line"
	moments "$TMP/prog-$opt" --moment "$TMP/prog-$opt:prog.c:14" --collect "args,locals,global,*p,stack=2048"
	gojq -r '.variables | "\(.id) \(.sum) \(.local) \(.global)"' "$TMP/moments" >"$TMP/is"
	diff "$TMP/truth" "$TMP/is" >&2 || fail "$opt: kymo (>) has seen other values than the program (<)"
	assert_eq "$(gojq -s 'map(select(any(.stack[]; . == "main"))) | length' "$TMP/moments")" 8 "moments with main in their stacks"
	assert_eq "$(gojq -s 'map(.hit) == [range(1; 9)]' "$TMP/moments")" true "hits are counted"
	gojq -rs '.[3].variables | "\(."*p") \(.c)"' "$TMP/moments" >"$TMP/is"
	[ "$opt" = O2 ] || assert_contains "$TMP/is" '^\{x = 30, y = -3, name = 0x[0-9a-f]+.*\} RED$' "a struct and an enum"
done

note "conditions and counts"
moments "$TMP/prog-O0" --moment "$TMP/prog-O0:handle if id >= 5"
assert_eq "$(gojq -r '.variables.id' "$TMP/moments" | tr '\n' ' ')" "5 6 7 " "moments for which it holds"
moments "$TMP/prog-O0" --moment "$TMP/prog-O0:prog.c:14 if global < 0 max 2"
assert_eq "$(wc -l <"$TMP/moments")" 0 "moments for which it holds"
moments "$TMP/prog-O0" --moment "$TMP/prog-O0:handle max 2"
assert_eq "$(wc -l <"$TMP/moments")" 2 "moments until the end"

for program in count count-O2; do
	note "$program: as many elements as a variable says, and less than none"
	# (with optimisation, a part of the code is passed only if there are elements)
	place=many
	[ "$program" = count ] || place=0x$(nm "$TMP/$program" | awk '$3 == "many" { print $1 }')
	moments "$TMP/$program" --moment "$TMP/$program:$place" --collect 'n,*list@n,own'
	gojq -r '"\(.variables.n) \(.variables."*list@n")"' "$TMP/moments" | sort -u >"$TMP/is"
	printf '%s\n' '-1 {}' '0 {}' '1 {7}' '2 {7, 8}' | sort | diff - "$TMP/is" >&2 || fail "$program: other elements (>) than expected (<)"
	assert_eq "$(gojq -r .not_collected.own "$TMP/moments" | sort -u)" "$(gojq -r .not_collected.own "$TMP/moments" | grep thread | sort -u)" \
		"why a variable of the thread is not collected"
done

note "static probes, with their arguments; a semaphore is raised; without debug information, too"
for program in count count-bare; do
	moments "$TMP/$program" --moment "$TMP/$program:usdt:kymotest:handled if arg1 >= 3 && arg1 != 5" --collect 'args,*arg2,*arg2@3'
	gojq -r '.variables | "\(.arg1) \(.arg3) \(."*arg2" | sub("0x[0-9a-f]*"; "0x")) \(."*arg2@3") \(has("id"))"' "$TMP/moments" >"$TMP/is"
	debug=$([ "$program" = count ] && echo true || echo false)
	printf "%s %s 0x \"a text\" \"a t\" $debug\n" 3 3 4 4 6 6 7 7 | diff - "$TMP/is" >&2 || fail "$program: other arguments (>) than expected (<)"
done
expect_exit 1 "$KYMO" record --direct --moment "$TMP/count:usdt:kymotest:handeld" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" "did you mean 'kymotest:handled'?" "the nearest static probe"

note "arguments of static probes in arrays, and at symbols"
for program in count count-bare; do
	moments "$TMP/$program" --moment "$TMP/$program:usdt:kymotest:indexed if arg1 != 200" --collect 'args,*arg1'
	gojq -r '.variables | "\(.arg1) \(.arg2) \(.arg3)"' "$TMP/moments" >"$TMP/is"
	at_symbol=$([ "$program" = count ] && echo 200 || echo null)
	printf "%s $at_symbol %s\n" 100 97 300 116 400 101 100 97 300 116 400 101 |
		diff - "$TMP/is" >&2 || fail "$program: other arguments (>) than expected (<)"
	expect_exit 0 "$KYMO" record --direct --force -e calls --call "$TMP/$program:usdt:kymotest:indexed" \
		-o "$TMP/m.fxt" -- "$TMP/$program"
	expect_exit 0 "$KYMO" calls --json "$TMP/m.fxt"
	gojq -r '.arguments | "\(.arg1) \(.arg2 | if type == "number" then . else null end) \(.arg3)"' "$TMP/stdout" >"$TMP/is"
	printf "%s $at_symbol %s\n" 100 97 200 32 300 116 400 101 100 97 200 32 300 116 400 101 |
		diff - "$TMP/is" >&2 || fail "$program: other arguments of calls (>) than expected (<)"
done
assert_says "$TMP/stdout" "unavailable"

note "trace state variables"
# (handle() is passed before it calls strange(), which is passed only for odd ids)
moments "$TMP/count" --moment "$TMP/count:strange count \$odd max 0" \
	--moment "$TMP/count:handle if \$odd >= 2 && id != 6 count \$wanted count \$odd" --collect 'id,$odd'
gojq -r '"\(.variables.id) \(.hit) \(.trace_state_variables.odd) \(.trace_state_variables.wanted)"' "$TMP/moments" >"$TMP/is"
# id 4: odd was 2 (of 1 and 3), and is 3 with this hit; 5: 4, and strange() makes it 5; 7: 6
printf '4 1 3 1\n5 2 4 2\n7 3 6 3\n' | diff - "$TMP/is" >&2 || fail "kymo (>) has counted otherwise than expected (<)"
expect_exit 125 "$KYMO" record --direct --moment "$TMP/count:handle if \$nosuch > 1" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" '$nosuch is neither a register nor a variable that a point increments' "a variable that nothing counts"
expect_exit 125 "$KYMO" record --direct --moment "$TMP/count:handle snapshot" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" 'use --mode flight' "a snapshot of a recording that is none"
if command -v gdb >/dev/null; then
	expect_exit 0 "$KYMO" export --format tfile --force -o "$TMP/count.tf" "$TMP/m.fxt"
	expect_exit 0 gdb -nx -batch -x "$(compgen -G "$TMP/count-*.gdb")" -ex 'tfind 1' -ex 'p $odd * 100 + $wanted' \
		-ex 'info tvariables' -ex 'tdump' -ex 'info tracepoints' -ex 'tfind 2' -ex 'p $odd * 100 + $wanted'
	assert_contains "$TMP/stdout" '^.1 = 402$' "values at the second frame"
	assert_contains "$TMP/stdout" '^.2 = 603$' "values at the third frame"
	assert_contains "$TMP/stdout" '^\$odd +0 +4' "info tvariables"
	assert_contains "$TMP/stdout" '^\$wanted = 2$' "tdump"
	assert_contains "$TMP/stdout" 'teval \$wanted ?= ?\$wanted ?\+ ?1' "the action of the tracepoint"
	expect_exit 0 "$KYMO" check "$(compgen -G "$TMP/count-*.tf")"
fi

# act ARGUMENT ...: records with these arguments, a snapshot at hit 3, and an end at hit 30
act() {
	: >"$TMP/goes"
	rm -f "$TMP"/act*.fxt
	expect_exit 0 "$KYMO" record "$@" --mode flight -e moments --moment "$TMP/count:handle snapshot 3 stop 30" \
		--collect id -o "$TMP/act.fxt" -- "$TMP/count" "$TMP/goes"
	rm "$TMP/goes"
	assert_says "$TMP/stderr" "ended by the action 'stop' of a moment" "why it ended"
	expect_exit 0 "$KYMO" moments --json "$TMP/act.fxt"
	gojq .hit "$TMP/stdout" | sort -n | diff <(seq 30) - >&2 || fail "other hits (>) than those until the stop (<)"
	check_finds_nothing "$TMP/act.fxt"
	dump_records "$TMP/act.fxt"
	assert_eq "$(events trigger | gojq -r '.args | "\(.reason) \(.value) \(.limit)"' | tr '\n' ' ')" \
		"moment_snapshot 3 3 moment_stop 30 30 " "triggers"
	assert_eq "$(events session_stop | gojq -r .args.reason)" moment "the reason of the end"
	snapshot=$(compgen -G "$TMP/act-*.fxt") || fail "there is no snapshot"
	expect_exit 0 "$KYMO" moments --json "$snapshot"
	assert_ge "$(wc -l <"$TMP/stdout")" 3 "moments in the snapshot"
}

note "a snapshot and the end"
act --direct

note "unavailable values are reported"
expect_exit 1 "$KYMO" record --direct --moment "$TMP/prog-O0:prog.c:9999" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" 'nearest' "the nearest lines"
expect_exit 1 "$KYMO" record --direct --moment "$TMP/prog-O0:handel" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" "did you mean 'handle'" "the nearest name"
expect_exit 1 "$KYMO" record --direct --moment "$TMP/prog-O0:handle" --collect nosuch -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" "nosuch" "the variable"
address=$(nm "$TMP/prog-O0" | awk '$3 == "handle" { print $1 }')
expect_exit 125 "$KYMO" record --direct --moment "$TMP/prog-O0:0x$(printf %x $((16#$address + 6)))" -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" 'in the middle of an instruction' "a point between instructions"

if command -v gdb >/dev/null; then
	note "gdb opens them"
	moments "$TMP/prog-O0" --moment "$TMP/prog-O0:prog.c:14" --collect "args,locals,global,*p,stack=4096"
	expect_exit 0 "$KYMO" export --format tfile --force -o "$TMP/m.tf" "$TMP/m.fxt"
	script=$(compgen -G "$TMP/m-*.gdb")
	assert_eq "$(wc -w <<<"$script")" 1 "scripts"
	expect_exit 0 gdb -nx -batch -x "$script" -ex 'tfind 3' -ex 'bt' -ex 'info locals' -ex 'p global' -ex 'p *p' \
		-ex 'tdump' -ex 'info tvariables' -ex 'info sharedlibrary' -ex 'tstatus'
	cp "$TMP/stdout" "$TMP/gdb"
	assert_contains "$TMP/gdb" 'handle \(id=3, p=0x[0-9a-f]+, text=0x[0-9a-f]+ "hello", n=5, c=RED\)' "the frame"
	assert_contains "$TMP/gdb" '#1 .* in main' "its caller"
	assert_contains "$TMP/gdb" '^sum = 33$' "a local"
	assert_says "$TMP/gdb" 'local = "hello-33' "a local array"
	assert_contains "$TMP/gdb" "^.1 = 73\$" "a global variable"
	assert_says "$TMP/gdb" '= {x = 30, y = -3,' "memory behind a pointer"
	assert_contains "$TMP/gdb" 'Yes .*/libc\.so\.6$' "info sharedlibrary"
	assert_says "$TMP/gdb" 'Collected 8 trace frames' "the number of frames"
	expect_exit 0 "$KYMO" check "$(compgen -G "$TMP/m-*.tf")"
else
	note "not opened: no gdb"
fi

note "a program that forks and execs after each hit: no record stands behind a later one"
cat >"$TMP/forks.c" <<-'END'
	#include <sys/wait.h>
	#include <unistd.h>
	__attribute__((noinline)) void hit(int i) { asm volatile("" : : "r"(i)); }
	int main(void)
	{
		for (int i = 0; i < 200; i++) {
			hit(i);
			if (fork() == 0) {
				execl("/bin/true", "true", (char *)NULL);
				_exit(1);
			}
			wait(NULL);
		}
		return 0;
	}
END
gcc -g -O1 -o "$TMP/forks" "$TMP/forks.c"
expect_exit 0 "$KYMO" record --direct --force -e moments --moment "$TMP/forks:hit" -o "$TMP/m.fxt" -- "$TMP/forks"
check_finds_nothing "$TMP/m.fxt"
dump_records "$TMP/m.fxt"
# (meanwhile, the earlier mappings are listed, with the time of the start)
gojq -r 'select(.timestamp_ns) | [.timestamp_ns, .record, .name] | @tsv' "$DUMP" |
	awk 'NR == 1 { start = $1 } $1 == start { next } { n++; late += $1 < last; last = $1 } END { print n + 0, late + 0 }' >"$TMP/order"
read -r n late <"$TMP/order"
assert_ge "$n" 1000 "records"
assert_eq "$late" 0 "records behind a later one, of $n"

cat >"$TMP/threads.cc" <<-'END'
	#include <cstdio>
	#include <cstdlib>
	#include <string>
	#include <thread>
	#include <vector>
	struct Item { int number; std::string name; };
	Item last{ 5, "five" };
	__attribute__((noinline)) void *grab(Item *item, size_t bytes)
	{
		void *p = malloc(bytes);
		item->number++;
		return p;
	}
	static void work(int id)
	{
		Item own{ id, "worker" };
		free(grab(&own, 4000 + id));
	}
	int main()
	{
		std::vector<std::thread> all;
		for (int i = 0; i < 3; i++)
			all.emplace_back(work, i);
		for (auto &t : all)
			t.join();
		return last.number != 5;
	}
END
if command -v g++ >/dev/null; then
	note "threads, at a line and in the C library's malloc; the program is never stopped"
	g++ -g -O1 -pie -fPIE -pthread -o "$TMP/threads" "$TMP/threads.cc"
	expect_exit 0 "$KYMO" record --direct --force -e moments,sched \
		--moment 'libc.so.6:malloc if $rdi >= 4000 && $rdi <= 4002 collect stack=4096' \
		--moment "$TMP/threads:threads.cc:12 collect args,*item,last,stack=4096" -o "$TMP/m.fxt" -- "$TMP/threads"
	expect_exit 0 "$KYMO" moments --json "$TMP/m.fxt"
	gojq -r '.variables."*item" // empty' "$TMP/stdout" | grep -o 'number = [0-9]*' | sort >"$TMP/is"
	printf 'number = %s\n' 1 2 3 | diff - "$TMP/is" >&2 || fail "other numbers (>) than expected (<)"
	pid=$(gojq -s '.[0].process_id' "$TMP/stdout")
	dump_records "$TMP/m.fxt"
	# (other threads may be stopped, by a signal or a tracer)
	gojq -rn --argjson pid "$pid" 'reduce inputs as $r ({};
			if $r.record == "kernel_object" and any($r.args[]; .name == "process" and .value == $pid)
			then .own["\($r.koid)"] = true
			elif $r.record == "context_switch" and $r.outgoing_thread_state == "suspended"
			then .stopped += [$r.outgoing_thread_id] else . end) |
		.own as $own | .stopped[]? | select($own["\(.)"])' "$DUMP" >"$TMP/stopped"
	assert_eq "$(wc -l <"$TMP/stopped")" 0 "switches of stopped threads"
	expect_exit 0 "$KYMO" moments --json --stack-trace --point '*threads.cc:12' "$TMP/m.fxt"
	assert_eq "$(gojq -c '.stack | any(.[]; startswith("clone"))' "$TMP/stdout" | sort -u)" true \
		"moments whose stacks end where their threads begin"
	if command -v gdb >/dev/null; then
		expect_exit 0 "$KYMO" export --format tfile --force -o "$TMP/m.tf" "$TMP/m.fxt"
		script=$(grep -lx "file $TMP/threads" "$TMP"/m-*.gdb)
		frame=$(sed -n '/^# *\([0-9]\+\) .* malloc.*/{s//\1/p;q}' "$script")
		line=$(sed -n '/^# *\([0-9]\+\) .*threads.cc:12.*/{s//\1/p;q}' "$script")
		expect_exit 0 gdb -nx -batch -x "$script" -ex "tfind $frame" -ex 'bt' -ex 'info registers rdi' -ex 'info sharedlibrary' \
			-ex "tfind $line" -ex 'bt full' -ex 'p last' -ex 'p *item' -ex 'tdump'
		assert_contains "$TMP/stdout" '^#0 .*malloc' "malloc"
		assert_contains "$TMP/stdout" '^#1 .* in grab \(item=.*threads[.]cc:10' "its caller"
		assert_contains "$TMP/stdout" '^#[0-9]+ .* in work \(id=[012]\)' "the function of the thread"
		assert_contains "$TMP/stdout" '^#[0-9]+ .*clone3?' "where the thread begins"
		assert_contains "$TMP/stdout" '^rdi  *0xfa[0-2] ' "the register"
		assert_contains "$TMP/stdout" 'Yes .*/libstdc\+\+\.so' "info sharedlibrary"
		assert_says "$TMP/stdout" '= {number = 5, name = "five"}' "a global variable"
		assert_contains "$TMP/stdout" '= \{number = [123], name = "worker"\}' "memory behind a pointer"
	fi
fi

# Walks cannot look up unknown mappings while another thread holds the lock of the address space.
cat >"$TMP/changing.c" <<-'END'
	#include <pthread.h>
	#include <sched.h>
	#include <stdlib.h>
	#include <sys/mman.h>
	static volatile int turns, done;
	__attribute__((noipa)) void *grab(size_t bytes)
	{
		void *p = malloc(bytes);
		__asm__ volatile("" : : "r"(p) : "memory");
		return p;
	}
	static void *work(void *unused)
	{
		free(grab(4003));
		return unused;
	}
	static void *change(void *unused)
	{
		size_t bytes = 8 << 20;
		void *room = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		for (; !done; turns++)
			mprotect(room, bytes, turns % 2 ? PROT_READ : PROT_READ | PROT_WRITE);
		return unused;
	}
	int main(void)
	{
		pthread_t changes, works;
		pthread_create(&changes, NULL, change, NULL);
		while (turns < 1)
			sched_yield();
		for (int i = 0; i < 3; i++) {
			pthread_create(&works, NULL, work, NULL);
			pthread_join(works, NULL);
		}
		done = 1;
		pthread_join(changes, NULL);
		return 0;
	}
END
note "the address space changes meanwhile, and the program ends at once"
gcc -O1 -pthread -o "$TMP/changing" "$TMP/changing.c"
for _ in {1..5}; do
	# (a new file has no table yet)
	cp "$TMP/changing" "$TMP/changing-copy"
	expect_exit 0 "$KYMO" record --direct --force -e moments --moment 'libc.so.6:malloc if $rdi == 4003' \
		-o "$TMP/changing.fxt" -- "$TMP/changing-copy"
	expect_exit 0 "$KYMO" moments --json --stack-trace "$TMP/changing.fxt"
	assert_eq "$(gojq -c 'select(.stack | any(.[]; startswith("grab"))) | .stack | any(.[]; startswith("clone"))' \
		"$TMP/stdout" | sort | uniq -c | sed 's/^ *//')" "3 true" "moments with whole stacks"
	rm "$TMP/changing-copy"
done

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	note "Perfetto shows the values"
	moments "$TMP/prog-O0" --moment "$TMP/prog-O0:prog.c:14 if id == 3 count \$threes" --collect 'id,sum,text,c,*p'
	perfetto "$TMP/m.fxt" "select a.key, coalesce(a.string_value, a.int_value) as value
		from slice s join args a using(arg_set_id) where s.name like '%prog.c:14' order by a.key" >"$TMP/args"
	gojq -r '.[] | "\(.key) \(.value)"' "$TMP/args" | sed 's/0x[0-9a-f]*/0x/g' | grep -v '^call stack' >"$TMP/is"
	printf '%s\n' '$threes 1' '*p {x = 30, y = -3, name = 0x}' 'c RED' 'cpu CPU' 'hit 1' 'id 3' 'point 0' 'sum 33' \
		'text 0x "hello"' | sed "s/CPU/$(sed -n 's/^cpu //p' "$TMP/is")/" | diff - "$TMP/is" >&2 ||
		fail "Perfetto (>) shows other arguments than expected (<)"
fi

note "redacted"
expect_exit 0 "$KYMO" redact --force "$TMP/m.fxt" "$TMP/redacted.fxt"
dump_records "$TMP/redacted.fxt"
assert_eq "$(gojq -c 'select(.record == "event" and .category == "moments") | [.args[].name] | select(any(. == "hit")) -
	["hit", "cpu", "point", "call stack"]' "$DUMP" | sort -u)" "[]" "values in a redacted archive"

note "a part of them"
moments "$TMP/prog-O0" --moment "$TMP/prog-O0:prog.c:14"
expect_exit 0 "$KYMO" cut --force --from 0 --to 1h "$TMP/m.fxt" "$TMP/part.fxt"
expect_exit 0 "$KYMO" moments --json "$TMP/part.fxt"
assert_eq "$(wc -l <"$TMP/stdout")" 8 "moments in a part that has all"

note "merged: each moment has its own plan"
expect_exit 0 "$KYMO" record --direct -e moments --moment "$TMP/count:handle" --collect id -o "$TMP/other.fxt" -- "$TMP/count"
expect_exit 0 "$KYMO" merge --force "$TMP/m.fxt" "$TMP/other.fxt" "$TMP/merged.fxt"
assert_says "$TMP/stderr" "; 1 point number replaced, " "the number of both points was 0"
check_finds_nothing "$TMP/merged.fxt"
expect_exit 0 "$KYMO" moments --json "$TMP/merged.fxt"
assert_eq "$(gojq -r 'select(.point == "handle") | .variables | "\(.id)\(has("sum"))"' "$TMP/stdout" | tr '\n' ' ')" \
	"$(printf '%sfalse ' 0 1 2 3 4 5 6 7)" "moments of the second archive"
assert_eq "$(gojq -r 'select(.point != "handle") | .variables | has("sum")' "$TMP/stdout" | sort | uniq -c | tr -s ' ')" \
	" 8 true" "moments of the first one"

note "by the service"
start_bus
KYMOD_GROUP=$(id -g uucp 2>/dev/null || echo kymo) start_kymod
expect_exit 0 "$KYMO" record --bus "$BUS" -e moments --moment "$TMP/prog-O2:prog.c:14" --collect id,sum -o "$TMP/service.fxt" -- "$TMP/prog-O2"
expect_exit 0 "$KYMO" moments --json "$TMP/service.fxt"
assert_eq "$(gojq -r '.variables.id' "$TMP/stdout" | tr '\n' ' ')" "0 1 2 3 4 5 6 7 " "moments that the service has recorded"
act --bus "$BUS"
stop_kymod
no_bpf_left "recordings of moments"
