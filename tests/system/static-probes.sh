#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `-e usdt:`: the static probes of programs and libraries are instants with their arguments: of a
# program whose probes need a semaphore, of libstdc++ and of Python. Wrong names are explained.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command gcc
[ "$(uname -m)" = x86_64 ] || skip "moments are recorded on x86-64"
remember_bpf

cat >"$TMP/steps.c" <<-'END'
	#include <stdio.h>
	#include "static-probe.h"
	__attribute__((section(".probes"))) volatile unsigned short begun_semaphore;
	__attribute__((noinline)) void step(int id)
	{
		char text[] = "a text";
		if (begun_semaphore)
			PROBE("begun", "begun_semaphore", "-4@%0 8@%1 1@%b2", "r"(-id), "r"(text), "q"(id), "m"(text));
		PROBE("ended", "0", "-2@%w0", "r"(id * 1000));
	}
	int main(void)
	{
		for (int i = 0; i < 8; i++)
			step(i);
		printf("%d\n", begun_semaphore);
		return 0;
	}
END
gcc -g -O1 -I "$ROOT/tests/support/loads" -o "$TMP/steps" "$TMP/steps.c"

# record EVENTS [OPTION ...] -- COMMAND ...: the instants are in $TMP/instants, a line of JSON each
record() {
	expect_exit 0 "$KYMO" record --direct --force -e "$1" -o "$TMP/p.fxt" "${@:2}"
	cp "$TMP/stdout" "$TMP/printed"
	[ "$(grep -c 'debug information' "$TMP/stderr")" = 0 ] || fail "debug information is asked for: $(cat "$TMP/stderr")"
	check_finds_nothing "$TMP/p.fxt"
	instants "$TMP/p.fxt"
}

instants() {
	dump_records "$1"
	gojq -c 'select(.record == "event" and .category == "moments" and any(.args[]; .name == "hit")) |
		{ name, thread: .thread_id, types: (.args | map({ (.name): .type }) | add), args: (.args | from_entries) }' \
		"$DUMP" >"$TMP/instants"
}

note "all probes of a program; one has a semaphore"
record "usdt:$TMP/steps:*" -- "$TMP/steps"
assert_eq "$(cat "$TMP/printed")" 1 "value of the semaphore during the recording"
gojq -r 'select(.name | endswith(":kymotest:begun")) | .args | "\(.arg1) \(.arg3) \(.hit)"' "$TMP/instants" >"$TMP/is"
for i in {0..7}; do echo "$((-i)) $i $((i + 1))"; done | diff - "$TMP/is" >&2 || fail "other arguments (>) than expected (<)"
gojq -r 'select(.name | endswith(":kymotest:ended")) | .args.arg1' "$TMP/instants" >"$TMP/is"
for i in {0..7}; do echo "$((i * 1000))"; done | diff - "$TMP/is" >&2 || fail "other arguments (>) than expected (<)"
assert_eq "$(gojq -r 'select(.name | endswith("begun")) | .types | "\(.arg1) \(.arg2) \(.arg3)"' "$TMP/instants" | sort -u)" \
	"int64 uint64 uint64" "types by the note"
assert_eq "$(gojq .thread "$TMP/instants" | sort -u | wc -l)" 1 "threads"
assert_eq "$(grep -c '"context_switch"' "$DUMP" || true)" 0 "context switches, which were not asked for"
expect_exit 0 "$KYMO" summary --json "$TMP/p.fxt"
assert_eq "$(gojq -r '.moments[] | "\(.count) \(.name | ltrimstr($t))"' --arg t "$TMP/" "$TMP/stdout" | tr '\n' ';')" \
	"8 steps:kymotest:begun;8 steps:kymotest:ended;" "the probes in the summary"
expect_exit 0 "$KYMO" summary "$TMP/p.fxt"
assert_contains "$TMP/stdout" "^ +8  $TMP/steps:kymotest:ended\$" "a probe in the summary"
expect_exit 0 "$TMP/steps"
assert_eq "$(cat "$TMP/stdout")" 0 "value of the semaphore after the recording"
no_bpf_left "recordings of static probes"

note "names with wildcards, conditions, more to collect, and a filter"
record "usdt:$TMP/steps:kymo*:beg?n if arg1 < -5" --collect 'args,*arg2' -- "$TMP/steps"
assert_eq "$(gojq -r '.args | "\(.arg1) \(."*arg2" | sub("0x[0-9a-f]+"; "0x"))"' "$TMP/instants" | tr '\n' ';')" \
	'-6 0x "a text";-7 0x "a text";' "hits for which the condition holds"
sleep 100 &
sleeper=$!
expect_exit 0 "$KYMO" record --direct --force -e "usdt:$TMP/steps:*" -p "$sleeper" -o "$TMP/p.fxt" -- "$TMP/steps"
instants "$TMP/p.fxt"
assert_eq "$(wc -l <"$TMP/instants")" 0 "hits of a process that is not selected"
kill "$sleeper"

note "wrong names"
refuses() {
	expect_exit "$1" "$KYMO" record --direct -e "$2" -o "$TMP/none.fxt" -- true
	assert_says "$TMP/stderr" "$3" "the reason"
	[ ! -e "$TMP/none.fxt" ] || fail "an archive in spite of an error"
}
refuses 1 "usdt:$TMP/steps:begnu" "has no static probe 'begnu'; did you mean 'kymotest:begun'?"
refuses 1 "usdt:$TMP/steps:kymotset:*" "did you mean 'kymotest:*'?"
refuses 1 "usdt:$TMP/steps:kymotset:ended" "did you mean 'kymotest:ended'?"
refuses 1 "usdt:/bin/true:*" "/bin/true has no static probes"
refuses 1 "usdt:libnosuch:*" "there is no library or program 'libnosuch'"
refuses 2 "usdt:$TMP/steps" "is not usdt:FILE:PROBE or usdt:FILE:PROVIDER:PROBE"
refuses 2 "usdt::*" "is not usdt:FILE:PROBE or usdt:FILE:PROVIDER:PROBE"
refuses 2 "sched --collect=args" "unknown category"
expect_exit 2 "$KYMO" record --direct -e sched --collect args -o "$TMP/none.fxt" -- true
assert_says "$TMP/stderr" "--collect needs --moment or -e usdt:FILE:PROBE"

if command -v g++ >/dev/null; then
	note "a library, by its name without an end"
	cat >"$TMP/throws.cc" <<-'END'
		int main()
		{
			for (int i = 0; i < 5; i++)
				try {
					throw i;
				} catch (int) {
				}
		}
	END
	g++ -O1 -o "$TMP/throws" "$TMP/throws.cc"
	library=$(ldd "$TMP/throws" | awk '$1 ~ /^libstdc/ { print $3 }')
	readelf -n "$library" >"$TMP/notes"
	if grep -qw stapsdt "$TMP/notes"; then
		# (other programs on the machine use the library, too)
		record 'usdt:libstdc++:*' --comm throws -- "$TMP/throws"
		assert_eq "$(gojq -r .name "$TMP/instants" | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
			" 5 libstdc++.so.6:libstdcxx:catch; 5 libstdc++.so.6:libstdcxx:throw;" "exceptions"
		assert_eq "$(gojq -r '.args | has("arg1")' "$TMP/instants" | sort -u)" true "arguments"
	else
		note "$library has no static probes"
	fi
fi

# (not every Python has them)
python=
for candidate in $(type -ap python3); do
	readelf -n "$candidate" >"$TMP/notes" 2>&1 || continue
	grep -qw import__find__load__start "$TMP/notes" && python=$(readlink -f "$candidate")
done
if [ "$python" ]; then
	note "modules that Python imports"
	record "usdt:$python:python:import__find__load__*" --collect 'args,*arg1' -- "$python" -S -c 'import json'
	gojq -r 'select(.args."*arg1" | endswith("\"json\"")) | "\(.name | split(":") | .[-1]) \(.args.arg2)"' "$TMP/instants" >"$TMP/is"
	printf '%s\n' 'import__find__load__start null' 'import__find__load__done 1' | diff - "$TMP/is" >&2 ||
		fail "other imports (>) than expected (<)"
fi

if [ "${KYMO_PERFETTO_SQL:-}" ]; then
	note "Perfetto shows them"
	record "usdt:$TMP/steps:begun" -- "$TMP/steps"
	perfetto "$TMP/p.fxt" "select a.int_value as value from slice s join args a using(arg_set_id)
		where s.name like '%kymotest:begun' and a.key = 'arg1' order by s.ts" >"$TMP/args"
	assert_eq "$(gojq -c 'map(.value)' "$TMP/args")" "[0,-1,-2,-3,-4,-5,-6,-7]" "arguments in Perfetto"
fi

note "by the service"
start_bus
KYMOD_GROUP=$(id -g uucp 2>/dev/null || echo kymo) start_kymod
expect_exit 0 "$KYMO" record --bus "$BUS" -e "usdt:$TMP/steps:ended" -o "$TMP/service.fxt" -- "$TMP/steps"
instants "$TMP/service.fxt"
assert_eq "$(gojq -c .args.arg1 "$TMP/instants" | tr '\n' ' ')" "0 1000 2000 3000 4000 5000 6000 7000 " "hits that the service has recorded"
stop_kymod
no_bpf_left "recordings of static probes"
