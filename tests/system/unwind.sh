#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of code without frame pointers, walked by tables: known chains of a program that makes it hard, built
# in many ways; programs as the distribution ships them, also beside what perf makes of copies of their stacks;
# allocations through the C++ library; programs that have just begun; few tables.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../unwind-words.sh"
need_btf
need_bus
need_command nm readelf gcc
[ "$(uname -m)" = x86_64 ] || skip "tables are for x86-64"

start_bus
start_kymod
mkdir "$TMP/bin"
at_least=95 # in 100; 99 and more where nothing else runs

# ---- known chains ----

note "a chain of twelve, in hard ways, however it is built"
programs=()
for compiler in gcc clang; do
	command -v "$compiler" >/dev/null || {
		note "not tested: $compiler is not there"
		continue
	}
	for level in 2 3; do
		for how in "pie -fPIE" "static -fno-PIE"; do
			program=$TMP/bin/$compiler-O$level-${how%% *}
			# shellcheck disable=SC2086 # options
			"$compiler" -O$level -fomit-frame-pointer -${how} -pthread -o "$program" \
				"$ROOT/tests/support/unwind-load.c"
			programs+=("$program")
		done
	done
done

# true_chains FILE: of its rows, those with their true chains
true_chains() {
	local i chain='' part='' end

	for i in 12 11 10 9 8 7 6 5 4 3 2 1; do
		chain+="chain_$i "
		part="(${part}chain_$i )?"
	done
	# (a dynamic program has the functions that begin a thread in the C library)
	end='burn ((main ([^ ]+ )*_start)|(([^ ]+ )*(\.|clone|clone3|__clone3))) $'
	grep -E -e " (leaf_plain|leaf_jumped|leaf_alloca (with_alloca ){4}|leaf_tail last (tail )?) ?$chain$end" \
		-e " leaf_(signal on_signal|aside on_aside) ([^ ]+ )+$chain$end" \
		-e " leaf_tick on_tick ([^ ]+ )*$part$end" "$1" || true
}

# judge FILE: prints how many of how many samples are true, a row for each program; and keeps the others
judge() {
	local program

	# What comes before and after leaves is not so sure.
	name_frames "$1" "${programs[@]}" | grep ' leaf_' | sed 's/$/ /' >"$TMP/in-leaves" || true
	true_chains "$TMP/in-leaves" >"$TMP/true"
	grep -vxFf "$TMP/true" "$TMP/in-leaves" >"$TMP/false" || true
	for program in "${programs[@]}"; do
		echo "$(grep -c "^$program " "$TMP/true") $(grep -c "^$program " "$TMP/in-leaves") $program"
	done
}

# Each of them once before, so that their tables are there; and again.
cat >"$TMP/run-all" <<-'END'
	for program; do
		"$program" 200
	done
	sleep 0.5
	for program; do
		"$program" 400 &
		echo $! >>"$TMP/pids"
		wait
	done
END
export TMP
take "$TMP/eh.fxt" -e profile -F 997 -- bash "$TMP/run-all" "${programs[@]}"
judge "$TMP/eh.fxt" >"$TMP/judged"
while read -r n all program; do
	note "${program##*/}: $n of $all"
	assert_ge "$all" 150 "samples of ${program##*/}"
	[ $((100 * n)) -ge $((at_least * all)) ] || {
		head -5 "$TMP/false" >&2
		fail "${program##*/}: $n of $all samples have their whole chains"
	}
done <"$TMP/judged"
for leaf in plain alloca signal aside tick jumped tail; do
	assert_ge "$(grep -c " leaf_$leaf " "$TMP/true")" 10 "whole chains of leaf_$leaf"
done

note "by frame pointers, there is little of it; none is none"
first=${programs[0]}
take "$TMP/fp.fxt" -e profile -F 997 --stacks fp -- "$first" 300
judge "$TMP/fp.fxt" >"$TMP/judged"
read -r n all _ < <(grep "$first\$" "$TMP/judged")
note "$n of $all"
assert_le $((10 * n)) "$all" "whole chains by frame pointers"
take "$TMP/none.fxt" -e profile -F 997 --stacks none -- "$first" 300
"$LIST_STACKS" "$TMP/none.fxt" | awk -v pid="$RUN" '$1 == "tick" && $3 != pid { for (f = 5; f <= NF; f++) if ($f !~ /^kernel:/) n++ } END { print n + 0 }' \
	>"$TMP/n"
assert_eq "$(cat "$TMP/n")" 0 "frames of programs where nobody wants them"

# ---- what the distribution ships ----

note "programs as they are installed"
seq 1 90000 >"$TMP/a"
seq 1 90000 | awk '{ print $1 * 7 % 90000 }' >"$TMP/b"
cat >"$TMP/shipped" <<'END'
set -e
export HOME=/nonexistent
run() {
	# (what counts runs in a process whose pid is known)
	[ "$how" = warm ] || exec "$@"
	"$@"
}
work() {
	local how=$1 j

	shift

	case $1 in
	*/python*) run "$1" -I -c 'import json, re
def f(n):
	return f(n - 1) if n else len(re.findall("[ab]+c|d+", json.dumps({str(i): "abcd" * i for i in range(60)})))
for i in range('"$2"' * 2): f(20)' ;;
	*/bash) run "$1" --norc -c 'f() { [ "$1" -gt 0 ] && f $(($1 - 1)) && return; for ((i = 0; i < '"$2"' * 180; i++)); do x=${x:0:99}$i; done; }; f 2' ;;
	*/perl) run "$1" -e 'sub f { my $n = shift; return $n ? f($n - 1) : join(",", sort map { $_ * 7 % 1000 } 1 .. 3000) =~ s/1+/2/gr } f(10) for 1 .. '"$2" ;;
	*/git) run "$1" diff --no-index --stat "$TMP/a" "$TMP/b" >/dev/null ;;
	*/sqlite3) run "$1" :memory: "with recursive c(x) as (select 1 union all select x + 1 from c where x < $2 * 2500)
		select count(distinct x % 1000), sum(length(printf('%d', x))) from c" >/dev/null ;;
	esac
}
for program; do
	work warm "$program" 80 || true
done
sleep 0.5
for program; do
	work last "$program" 500 &
	echo $! >>"$TMP/pids"
	wait || true
done
END
shipped=()
for program in python3 bash perl git sqlite3; do
	if [ -x "/usr/bin/$program" ] && [ -n "$(readelf -hW "$(readlink -f "/usr/bin/$program")" 2>/dev/null)" ]; then
		shipped+=("$(readlink -f "/usr/bin/$program")")
	else
		note "not tested: $program is not installed"
	fi
done
take "$TMP/shipped.fxt" -e profile -F 997 -- bash "$TMP/shipped" "${shipped[@]}"
whole_stacks "$TMP/shipped.fxt" "${shipped[@]}" >"$TMP/whole"
for program in "${shipped[@]}"; do
	read -r _ all n depth < <(grep "^$program " "$TMP/whole") || fail "no samples of $program"
	note "$program: $n of $all whole, of $((depth / all)) frames"
	assert_ge "$all" 40 "samples of $program"
	[ $((100 * n)) -ge $((at_least * all)) ] || {
		head -5 "$TMP/cut-off" | cut -c1-2000 >&2
		fail "$program: $n of $all are whole"
	}
done

# ---- beside perf, which copies stacks and lets libunwind or libdw walk them ----

note "as deep as what perf makes of copies of stacks"
if perf record -e cpu-clock --call-graph dwarf,65528 -o "$TMP/perf.data" true >/dev/null 2>&1; then
	for program in "${shipped[@]:0:2}"; do
		perf record -e cpu-clock -F 199 --call-graph dwarf,65528 -o "$TMP/perf.data" -- \
			bash "$TMP/shipped" "$program" >/dev/null 2>&1 || {
			note "not tested: perf itself failed with $program"
			continue
		}
		perf script -i "$TMP/perf.data" --no-inline --comm "$(basename "$program" | cut -c1-15)" -F ip,sym,dso \
			2>/dev/null >"$TMP/perf.txt"
		# (frames of the kernel are not counted)
		awk -v program="$program" '
			function out() { if (seen) { all++; n += frames } seen = frames = 0 }
			NF == 0 { out(); next }
			$1 !~ /^ffff/ && !/\[kernel/ { frames++; if (index($0, program)) seen = 1 }
			END { out(); printf "%d %d\n", all, n }' "$TMP/perf.txt" >"$TMP/perf.depth"
		read -r theirs_all theirs <"$TMP/perf.depth"
		[ "$theirs_all" -gt 50 ] || {
			note "not tested: perf has $theirs_all samples of $program"
			continue
		}
		read -r _ all _ depth < <(grep "^$program " "$TMP/whole")
		note "$program: $((10 * depth / all)) tenths of a frame, perf has $((10 * theirs / theirs_all))"
		# (whole chains are a matter of the part above; two runs of a program differ by some per cent)
		assert_ge $((100 * depth * theirs_all)) $((90 * theirs * all)) "depth of the stacks of $program (in 100 of perf's)"
	done
else
	note "not tested: perf is not there, or cannot copy stacks"
fi
