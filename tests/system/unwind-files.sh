#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks walked by tables where files are of an odd kind, come late, go, or are too many: the vdso, deleted and nameless
# files, other mount namespaces, libraries that replace each other, languages with ways of their own, programs that have
# just begun, little memory for tables; and of allocations through the C++ library.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../unwind-words.sh"
need_btf
need_bus
need_command nm readelf gcc
[ "$(uname -m)" = x86_64 ] || skip "tables are for x86-64"
start_bus
start_kymod
export TMP
# The files are new to the session, whose tables for them come within this time.
export LATE_MS=200
flags=(-D_GNU_SOURCE -O2 -fomit-frame-pointer -fcf-protection=none)

gcc "${flags[@]}" -o "$TMP/odd" "$ROOT/tests/support/loads/unwind-odd.c" -ldl
# (where the new one stands, another one may have stood: see what libraries do)
gcc "${flags[@]}" -fPIC -shared -DNAME=first -DROOM=64 -o "$TMP/first.so" "$ROOT/tests/support/loads/unwind-turn.c"
gcc "${flags[@]}" -fPIC -shared -DNAME=second -DROOM=1024 -o "$TMP/second.so" "$ROOT/tests/support/loads/unwind-turn.c"

# share WHAT N ALL PERCENT: PERCENT are whole on a quiet machine; where it does other things, too, tables come later, and a
# quarter of all may be from before
share() {
	note "$1: $2 of $3"
	assert_ge "$3" 20 "samples of $1"
	assert_ge $((100 * $2)) $((($4 - 25) * $3)) "whole chains of $1 (in 100 of $3)"
}

# odd WHAT PERCENT REGEX [PROGRAM] -- COMMAND ...: of samples in burn() or what it calls, so many match
odd() {
	local what=$1 percent=$2 regex=$3

	shift 4
	take "$TMP/odd.fxt" -e "${categories:-profile}" -F 997 -- "$@"
	name_frames "$TMP/odd.fxt" "$TMP/odd" "$TMP/first.so" "$TMP/second.so" "${others[@]}" >"$TMP/names"
	grep -E ' (leaf|ask_time|turn|burn)' "$TMP/names" | sed 's/$/ /' >"$TMP/asked" || true
	grep -vE "$regex" "$TMP/asked" >"$TMP/not" || true
	head -3 "$TMP/not"
	share "$what" "$(grep -cE "$regex" "$TMP/asked" || true)" "$(wc -l <"$TMP/asked")" "$percent"
}
others=()

note "code of an odd kind"
odd "the vdso" 95 ' ask_time burn main \. \. _start $' -- "$TMP/odd" vdso 500
assert_ge "$(grep -c ' \. \. ask_time\| \. ask_time' "$TMP/names")" 50 "samples of what asks the vdso"
odd "a jump to a handler" 95 ' leaf_caught be_caught burn main \. \. _start $| burn main \. \. _start $' -- "$TMP/odd" caught 300
assert_ge "$(grep -c ' leaf_caught be_caught burn main ' "$TMP/names")" 20 "whole chains of what jumps to a handler"
odd "a call of address 0" 95 ' leaf on_fault \. call_nothing burn (burn_nothing )?main \. \. _start $' -- "$TMP/odd" nothing 300
note "a caller whose frame depends on another register: its table cannot be used, and that is said"
take "$TMP/odd.fxt" -e profile -F 997 -- "$TMP/odd" register 300
expect_exit 0 "$KYMO" summary --json "$TMP/odd.fxt"
assert_ge "$(gojq .stacks.unsupported "$TMP/stdout")" 20 "stacks that end there"
expect_exit 0 "$KYMO" summary "$TMP/odd.fxt"
assert_says "$TMP/stdout" "in code whose table has rules that are not supported"
expect_exit 0 "$KYMO" flame -o "$TMP/odd.folded" "$TMP/odd.fxt"
assert_says "$TMP/stderr" "in code whose table has rules that are not supported"
cp "$TMP/odd" "$TMP/gone"
# odd_named WHAT NAME COMMAND ...: likewise, where the mapping's name is not that of a file: has NAME in it
odd_named() {
	local what=$1 copy=$2

	shift 2
	take "$TMP/odd.fxt" -e profile -F 997 -- "$@"
	ticks "$TMP/odd.fxt" | grep -F "$copy" | sed 's/ kernel:[^ ]*//g; s/ (deleted)//g' >"$TMP/asked" || true
	# burn() (or what it calls), main(), two of the C library, _start
	share "$what" "$(grep -cE "${copy}[^ ]* [^ ]*${copy}[^ ]* [^ ]*/libc[^ ]* [^ ]*/libc[^ ]* [^ ]*${copy}[^ ]*$" "$TMP/asked" || true)" \
		"$(wc -l <"$TMP/asked")" 95
}
odd_named "a deleted file" gone "$TMP/gone" deleted 500
odd_named "a file without a name" memfd:odd "$TMP/odd" memfd 500
odd "libraries that replace each other" 95 ' (leaf_(first|second) )?turn take_turns burn main \. \. _start $| burn main \. \. _start $| take_turns burn main ' -- \
	"$TMP/odd" libraries 900 "$TMP/first.so" "$TMP/second.so"
for name in first second; do
	assert_ge "$(grep -c " leaf_$name turn take_turns burn main \. \. _start" "$TMP/asked")" 40 "whole chains in the library '$name'"
done
cp "$TMP/odd" "$TMP/many"
LATE_MS=1500 categories=profile,offcpu odd "a program whose files have lost their names" 95 ' leaf_late burn main \. \. _start $' -- \
	"$TMP/odd" names 300 "$TMP/many"
if unshare -m true 2>/dev/null; then
	mkdir "$TMP/hidden"
	odd_named "a program of another mount namespace" hidden/odd unshare -m sh -c \
		'mount -t tmpfs none "$TMP/hidden" && cp "$TMP/odd" "$TMP/hidden/odd" && "$TMP/hidden/odd" plain 500'
else
	note "not tested: no mount namespaces"
fi

note "functions with probes"
# (the command and its children only; bash waits)
of_all() {
	ticks "$1" | awk -v pid="$RUN" '$3 != pid' | wc -l
}
probes=()
for name in push bp sub mov endbr nop long_nop; do
	probes+=(--call "$TMP/odd:first_$name limit 10/s")
done
# (the kernel emulates some of the instructions, so few samples are in their functions)
take "$TMP/odd.fxt" -e profile,calls,memory -F 4999 "${probes[@]}" -- "$TMP/odd" probed 1500
name_frames "$TMP/odd.fxt" "$TMP/odd" | sed 's/$/ /' >"$TMP/names"
share "a program with probes" "$(grep -c ' burn main \. \. _start $' "$TMP/names" || true)" "$(of_all "$TMP/odd.fxt")" 98
for name in push bp sub mov endbr nop long_nop; do
	all=$(grep -c " first_$name " "$TMP/names" || true)
	n=$(grep -c " first_$name be_probed burn main \. \. _start \$" "$TMP/names" || true)
	note "a probe on first_$name(): $n of $all"
	assert_ge "$n" 1 "whole chains of first_$name()"
	assert_le $((all - n)) $((1 + all / 50)) "stacks of first_$name() that are cut off"
done
share "a probe on malloc()" "$(grep -c ' allocate burn main \. \. _start $' "$TMP/names" || true)" \
	"$(grep -c ' allocate ' "$TMP/names" || true)" 99

note "functions whose return probe is being set"
# (then the kernel alone knows their return address: this is a hundredth of the time)
take "$TMP/odd.fxt" -e profile,memory -F 4999 -- "$TMP/odd" allocate 700
name_frames "$TMP/odd.fxt" "$TMP/odd" | sed 's/$/ /' >"$TMP/names"
n=$(grep -c ' burn main \. \. _start $' "$TMP/names" || true)
all=$(of_all "$TMP/odd.fxt")
note "$n of $all"
assert_ge "$n" 500 "whole chains"
assert_le $((all - n)) $((1 + all / 100)) "stacks that are cut off"

note "parents that wait in vfork() and posix_spawn()"
# (a fast machine starts a program within 20 us)
take "$TMP/odd.fxt" -e sched,offcpu --offcpu-min 10us -- "$TMP/odd" children 700
expect_exit 0 "$KYMO" flame --off-cpu --format folded --process odd --force -o "$TMP/odd.folded" "$TMP/odd.fxt"
# (of the C library, only exported functions have names)
for chain in 'vfork_with_room;[^;]*vfork' 'vfork_plain;[^;]*vfork' 'spawn;.*clone'; do
	awk -v chain="main;make_children;$chain" '$0 ~ chain { n += $NF } END { printf "%d\n", n / 1000 }' "$TMP/odd.folded" >"$TMP/n"
	assert_ge "$(cat "$TMP/n")" 50 "us of waits in $chain"
done
awk '/;(_start|\[unknown\]|[^ ]*exit)/ && !/;main;/ { next } { all += $NF } /;main;make_children;/ { n += $NF }
	END { printf "%d %d\n", n / 10000, all / 10000 }' "$TMP/odd.folded" >"$TMP/n"
read -r n all <"$TMP/n"
share "waits of parents and children of vfork(), in 10 us" "$n" "$all" 99

note "functions without tables"
take "$TMP/odd.fxt" -e profile,calls -F 997 --call "$TMP/odd:bare_called limit 10/s" --call "$TMP/odd:bare_pushed limit 10/s" -- \
	"$TMP/odd" bare 2000
name_frames "$TMP/odd.fxt" "$TMP/odd" | sed 's/$/ /' >"$TMP/names"
whole='with_room be_bare burn main \. \. _start $'
# (it has no frame pointer, but its caller has: that must not be passed over)
grep ' bare_frame ' "$TMP/names" >"$TMP/asked" || true
assert_ge "$(wc -l <"$TMP/asked")" 20 "samples of bare_frame()"
grep -vE "^[^ ]*( leaf)? bare_frame (\$|$whole)" "$TMP/asked" >"$TMP/not" || true
head -3 "$TMP/not"
assert_eq "$(wc -l <"$TMP/not")" 0 "false callers of bare_frame()"
# (the frame pointer is that of its caller, which has no table either: that must not be passed over)
grep ' bare_inner ' "$TMP/names" >"$TMP/asked" || true
assert_ge "$(wc -l <"$TMP/asked")" 20 "samples of bare_inner()"
grep -vE "^[^ ]*( leaf)? bare_inner (\$|bare_outer $whole)" "$TMP/asked" >"$TMP/not" || true
head -3 "$TMP/not"
assert_eq "$(wc -l <"$TMP/not")" 0 "false callers of bare_inner()"
assert_eq "$(grep -c ' bare_padding ' "$TMP/names" || true)" 0 "samples before bare_padded()"
for name in pointer leaf short called pushed padded target framed; do
	share "bare_$name()" "$(grep -cE "^[^ ]*( leaf)? bare_$name $whole" "$TMP/names" || true)" \
		"$(grep -c " bare_$name " "$TMP/names" || true)" 99
done

expect_exit 0 "$KYMO" leaks --direct --resource fd -- "$TMP/odd" bare 10
assert_says "$TMP/stdout" 'with_room  odd' "the caller of bare_dup()"
assert_says "$TMP/stdout" 'be_bare  odd' "the stack of bare_dup()"

note "calls: a message has the causes for incomplete stacks"
expect_exit 0 "$KYMO" calls --direct --stack-trace --call "$TMP/odd:leaf" -- "$TMP/odd" register 1
assert_says "$TMP/stderr" "in code whose table has rules that are not supported"

note "functions without tables, before the table of their file exists"
copies=()
for i in {1..8}; do
	cp "$TMP/odd" "$TMP/odd-$i"
	copies+=("$TMP/odd-$i")
done
# shellcheck disable=SC2016 # its own words
take "$TMP/odd.fxt" -e profile -F 4999 -- bash -c 'for copy; do "$copy" bare 40; done' bash "${copies[@]}"
summarize "$TMP/odd.fxt"
assert_ge "$(json "$SUMMARY" '.unwind_tables.copied // 0')" 8 "stacks that were copied"
LATE_MS=0 name_frames "$TMP/odd.fxt" "${copies[@]}" | sed 's/$/ /' >"$TMP/names"
grep ' bare_frame ' "$TMP/names" >"$TMP/asked" || true
assert_ge "$(wc -l <"$TMP/asked")" 20 "samples of bare_frame()"
grep -vE "^[^ ]*( leaf)? bare_frame (\$|$whole)" "$TMP/asked" >"$TMP/not" || true
head -3 "$TMP/not"
assert_eq "$(wc -l <"$TMP/not")" 0 "false callers of bare_frame()"

note "languages with ways of their own"
if command -v rustc >/dev/null; then
	cat >"$TMP/r.rs" <<-'END'
		#[inline(never)]
		fn leaf(n: u64) -> u64 { let mut h = n; for i in 0..200000u64 { h = std::hint::black_box(h ^ i).wrapping_mul(31); } h }
		#[inline(never)]
		fn burn(d: u32, n: u64) -> u64 { if d == 0 { leaf(n) } else { burn(std::hint::black_box(d - 1), n) ^ 1 } }
		fn main() { let t = std::time::Instant::now(); let (mut n, mut rounds) = (0, 0); while rounds < 400 || t.elapsed().as_millis() < 400 { n = burn(8, n); rounds += 1; } println!("{}", n); }
	END
	rustc -O -C force-frame-pointers=no -o "$TMP/rusty" "$TMP/r.rs" 2>"$TMP/rustc.log" || rm -f "$TMP/rusty"
fi
if [ -x "$TMP/rusty" ]; then
	take "$TMP/odd.fxt" -e profile -F 997 -- "$TMP/rusty"
	whole_stacks "$TMP/odd.fxt" "$TMP/rusty" >"$TMP/whole"
	read -r _ all n depth <"$TMP/whole"
	note "of $((depth / all)) frames"
	share "a Rust program" "$n" "$all" 90
else
	note "not tested: no rustc that works"
fi
if command -v go >/dev/null; then
	cat >"$TMP/g.go" <<-'END'
		package main
		import ("fmt"; "sync"; "time")
		//go:noinline
		func leaf(n int) (h int) { for i := 0; i < 20000; i++ { h += i * n }; return }
		//go:noinline
		func deep(d, n int) int { if d == 0 { return leaf(n) }; return deep(d - 1, n) + 1 }
		func work(end time.Time, all *sync.WaitGroup) {
			defer all.Done()
			for m := map[string]int{}; time.Now().Before(end); { m[fmt.Sprint(deep(9, len(m)) % 1000)]++ }
		}
		func main() {
			var all sync.WaitGroup
			for i := 0; i < 4; i++ { all.Add(1); go work(time.Now().Add(1200 * time.Millisecond), &all) }
			all.Wait()
		}
	END
	CGO_ENABLED=0 GOCACHE=$TMP/go GOFLAGS=-mod=mod go build -o "$TMP/gopher" "$TMP/g.go"
	take "$TMP/odd.fxt" -e profile -F 997 -- "$TMP/gopher"
	# By the last frame: where a goroutine or a thread begins; or on the stack of the scheduler and the collector, which
	# says nothing of who switched to it.
	nm "$TMP/gopher" | awk '{ sub(/\.abi0$/, "", $3); print $1, $3 }' | sort >"$TMP/go-names"
	ticks "$TMP/odd.fxt" | awk -v delta="$(code_delta "$TMP/gopher")" '
		function number(hex,    i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		NR == FNR { from[++k] = number($1); name[k] = $2; next }
		/gopher\+/ {
			at = $NF
			sub(/.*\+/, "", at)
			at = number(at) + delta
			low = 1
			high = k + 1
			while (high - low > 1) {
				middle = int((low + high) / 2)
				if (from[middle] < at)
					low = middle
				else
					high = middle
			}
			ends[name[low]]++
		}
		END { for (n in ends) print ends[n], n }' "$TMP/go-names" - | sort -rn >"$TMP/go-ends"
	head -6 "$TMP/go-ends"
	all=$(awk '{ n += $1 } END { print n + 0 }' "$TMP/go-ends")
	share "goroutines and Go's threads" "$(awk '$2 ~ /^runtime\.(goexit|clone|rt0_go)$/ { n += $1 } END { print n + 0 }' "$TMP/go-ends")" "$all" 90
	share "a Go program, its system stacks included" \
		"$(awk '$2 ~ /^runtime\.(goexit|clone|rt0_go|systemstack|mcall|morestack)$/ { n += $1 } END { print n + 0 }' "$TMP/go-ends")" "$all" 98
else
	note "not tested: go is not there"
fi
node=$(readlink -f "$(type -P node || true)")
if [ "$node" ]; then
	# Its table takes longer than the first samples: they wait for it in the ring. If it takes longer than that, their stacks are
	# cut off. The program runs until the table exists, and for 800 ms of CPU time more. Most of its code is compiled at run time.
	cp "$node" "$TMP/large"
	note_tables "$TMP/large" &
	take "$TMP/odd.fxt" -e profile -F 997 --comm=large -- "$TMP/large" -e 'const fs = require("fs"); let end = Infinity;
		function f(n) { return n ? f(n - 1) + 1 : [1, 2, 3].map((x) => x * 2).length }
		for (let now = 0; now < end; now = process.cpuUsage().user / 1000) {
			for (const t = Date.now(); Date.now() - t < 10;) f(12);
			if (end == Infinity && fs.existsSync(process.env.TMP + "/large.ready")) end = now + 800;
		}'
	wait $!
	LATE_MS=0
	whole_stacks "$TMP/odd.fxt" "$TMP/large" >"$TMP/whole"
	read -r _ all n depth <"$TMP/whole"
	note "a large program, from its first sample on: $n of $all"
	summarize "$TMP/odd.fxt"
	assert_cut_counted "$all" "$n"
	FROM_NS=$(cat "$TMP/large.ready") whole_stacks "$TMP/odd.fxt" "$TMP/large" >"$TMP/whole"
	LATE_MS=200
	read -r _ all n depth <"$TMP/whole"
	"$LIST_STACKS" "$TMP/odd.fxt" | grep '^tick' | awk '$3 == $4 && / (unmapped:|\/\/anon|\[anon|anon_inode|[^ ]*jit)/' >"$TMP/jit" || true
	note "of $((depth / all)) frames, $(wc -l <"$TMP/jit") samples in what was compiled at run time"
	share "a large program, since its table exists" "$n" "$all" 90
	assert_ge "$(wc -l <"$TMP/jit")" 1 "samples in what was compiled at run time"
	assert_ge "$(json "$SUMMARY" '.unwind_tables.copied // 0')" 1 "stacks that were copied"
else
	note "not tested: node is not there"
fi

note "a program that has just begun"
export LATE_MS=0
# (what else runs is known already)
export CACHE_DIRECTORY=$TMP/warm
expect_exit 0 "$KYMO" record --direct -e profile -d 2 -o "$TMP/warm.fxt"
for filter in '' '--comm=fresh'; do
	# (on a busy machine the recording does not wait until the last table is made)
	for _ in 1 2 3; do
		cp "$TMP/odd" "$TMP/new" # (another inode)
		mv "$TMP/new" "$TMP/fresh"
		expect_exit 0 "$KYMO" record --direct --force -e profile -F 997 ${filter:+"$filter"} \
			-o "$TMP/cold.fxt" -- "$TMP/fresh" plain 400
		others=("$TMP/fresh")
		name_frames "$TMP/cold.fxt" "$TMP/fresh" | grep -E ' (leaf|burn)' >"$TMP/asked" || true
		others=()
		n=$(head -10 "$TMP/asked" | grep -c ' burn main \. \. _start' || true)
		note "whole from its first sample on${filter:+, with $filter}: $n of 10"
		[ "$n" -lt 8 ] || break
	done
	assert_ge "$n" 8 "whole chains of a program that nobody knew, of its first 10${filter:+, with $filter}"
done

note "beside a program with a large table"
# (files from 8 MiB on have their own queue)
cat >"$TMP/huge.s" <<-'END'
	.globl call_leaf
	.type call_leaf, @function
	call_leaf: .cfi_startproc
		sub $8, %rsp
		.cfi_def_cfa_offset 16
		call leaf_of_huge
		add $8, %rsp
		.cfi_def_cfa_offset 8
		ret
		.cfi_endproc
		.size call_leaf, . - call_leaf
	.rept 200000
		.cfi_startproc
		ret
		.cfi_endproc
	.endr
	.section .rodata
		.skip 8 << 20
	.section .note.GNU-stack, "", @progbits
END
cat >"$TMP/huge.c" <<-'END'
	#include <time.h>
	#include <unistd.h>
	void call_leaf(void);
	void leaf_of_huge(void);
	void leaf_of_huge(void)
	{
		for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end;)
			for (volatile int i = 0; i < 100000; i++)
				;
	}
	int main(int argc, char **argv)
	{
		/* until its table exists, and once more */
		do
			call_leaf();
		while (argc > 1 && access(argv[1], F_OK) != 0);
		call_leaf();
		return 0;
	}
END
gcc "${flags[@]}" -o "$TMP/huge-built" "$TMP/huge.c" "$TMP/huge.s"
# (Both have the same name, and only threads of this name are recorded.)
mkdir "$TMP/small" "$TMP/huge"
small=$TMP/small/beside huge=$TMP/huge/beside
cp "$TMP/odd" "$small"
cp "$TMP/huge-built" "$huge"
note_tables "$small" "$huge" &
# shellcheck disable=SC2016 # its own words
expect_exit 0 "$KYMO" record --direct --force -e profile -F 997 --comm=beside -o "$TMP/huge.fxt" -- \
	bash -c '"$1" "$1.ready" & until [ -e "$2.ready" ]; do "$2" plain 100; done; "$2" plain 400; wait' \
	bash "$huge" "$small"
expect_soon 5 test -e "$small.ready"
expect_soon 5 test -e "$huge.ready"
# beside_names: prints the names in stacks of the program beside it
beside_names() {
	name_frames "$TMP/huge.fxt" "$small" | grep -E ' (leaf|burn)' || true
}
beside_names >"$TMP/asked"
summarize "$TMP/huge.fxt"
assert_cut_counted "$(wc -l <"$TMP/asked")" "$(grep -c ' burn main \. \. _start' "$TMP/asked" || true)"
ready_ns=$(cat "$small.ready")
# (The unit test of the unwinder judges this: here, the large program may run long before the other one begins.)
note "the table of the program beside it existed $((($(cat "$huge.ready") - ready_ns) / 1000000)) ms before the large one"
FROM_NS=$ready_ns beside_names >"$TMP/asked"
all=$(wc -l <"$TMP/asked")
n=$(grep -c ' burn main \. \. _start' "$TMP/asked" || true)
of_huge=$(name_frames "$TMP/huge.fxt" "$huge" | { grep ' leaf_of_huge' || true; } | tail -n 20 |
	grep -c ' leaf_of_huge call_leaf main \. \. _start' || true)
note "$n of $all; of the last 20 of the program itself: $of_huge"
assert_ge "$all" 100 "samples of the program beside it"
assert_ge $((100 * n)) $((95 * all)) "whole chains (in 100)"
assert_ge "$of_huge" 18 "whole chains of the program itself, of its last 20"
unset CACHE_DIRECTORY
cat >"$TMP/forks" <<-'END'
	/bin/ls /usr/bin >/dev/null
	sleep 0.7
	for ((i = 0; i < 100; i++)); do
		/bin/ls -l /usr/bin >/dev/null &
		echo $! >>"$TMP/pids"
		wait
	done
END
note "programs of nobody that is recorded take no names away"
echo 'void _start(void) { __asm__ volatile("syscall" : : "a"(60), "D"(0)); }' >"$TMP/tiny.c"
gcc -Os -static -nostdlib -o "$TMP/tiny" "$TMP/tiny.c"
cp "$TMP/odd" "$TMP/later"
export LATE_MS=150
expect_exit 0 "$KYMO" record --direct -e profile -F 997 --comm=later -o "$TMP/later.fxt" -- \
	bash -c '"$0" execs 0 "$2"; "$1" plain 400' "$TMP/odd" "$TMP/later" "$TMP/tiny"
name_frames "$TMP/later.fxt" "$TMP/later" | grep -E ' (leaf|burn)' >"$TMP/asked" || true
share "a program that comes after 4400 others" "$(grep -c ' burn main \. \. _start' "$TMP/asked" || true)" "$(wc -l <"$TMP/asked")" 95
export LATE_MS=0
ls=$(readlink -f /bin/ls)
take "$TMP/forks.fxt" -e profile -F 997 -- bash --norc "$TMP/forks"
whole_stacks "$TMP/forks.fxt" "$ls" >"$TMP/whole"
read -r _ all n depth <"$TMP/whole"
note "ls has $((depth / all)) frames"
share "ls, forked again and again" "$n" "$all" 90

note "allocations through the C++ library"
if command -v g++ >/dev/null; then
	cat >"$TMP/leaky.cc" <<-'END'
		#include <map>
		#include <string>
		#include <unistd.h>
		#define NOINLINE __attribute__((noinline))
		#define BARRIER __asm__ volatile("" ::: "memory")
		static void *volatile kept;
		NOINLINE void leak_new(int n) { kept = new char[100 + n % 3]; BARRIER; }
		NOINLINE void leak_string(int n) { kept = new std::string(300, 'a' + n % 20); BARRIER; }
		NOINLINE void leak_map(int n) { auto m = new std::map<int, std::string>; (*m)[n] = "short"; kept = m; BARRIER; }
		NOINLINE void leak_all(int n) { leak_new(n); leak_string(n); leak_map(n); BARRIER; }
		int main() { usleep(700000); for (int i = 0; i < 200; i++) leak_all(i); BARRIER; usleep(100000); }
	END
	g++ -O2 -g -fomit-frame-pointer -o "$TMP/leaky" "$TMP/leaky.cc"
	# Another one has loaded the C++ library already.
	expect_exit 0 "$KYMO" record --direct --force -e memory -o "$TMP/leaky.fxt" -- "$TMP/leaky"
	"$LIST_STACKS" "$TMP/leaky.fxt" | sed -n 's/^block [^ ]* [^ ]* [^ ]* memory [^ ]*/tick 0 0 0/p' >"$TMP/blocks"
	expect_exit 0 "$KYMO" leaks --json "$TMP/leaky.fxt"
	gojq -r '.processes[].leaks[] | "\(.blocks) \([.frames[].function // "?" | split("(")[0] | gsub(" "; "_")] | join(" ")) "' \
		"$TMP/stdout" | grep ' leak_[a-z]* leak_all ' >"$TMP/leaks" || true
	awk '{ n += $1 } / leak_(new|string|map) leak_all main .*_start $/ { whole += $1 } END { print n + 0, whole + 0 }' "$TMP/leaks" >"$TMP/n"
	read -r all n <"$TMP/n"
	share "blocks that leak" "$n" "$all" 98
	assert_ge "$n" 700 "blocks that leak, of 1000"
	gojq -r '.processes[].leaks[].frames[] | select(.function // "" | startswith("leak_map")) | .line' "$TMP/stdout" | sort -u >"$TMP/lines"
	assert_eq "$(cat "$TMP/lines")" "$(grep -n 'leak_map(int' "$TMP/leaky.cc" | cut -d: -f1)" "the line that leaks"
else
	note "not tested: g++ is not there"
fi

