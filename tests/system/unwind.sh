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
				"$ROOT/tests/support/loads/unwind-load.c"
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

note "a program that nobody has run before has its table at its first sample"
cp "$first" "$TMP/bin/new" # (another inode)
programs=("$TMP/bin/new")
CACHE_DIRECTORY=$TMP/cache expect_exit 0 "$KYMO" record --direct -e profile -F 997 -o "$TMP/new.fxt" -- \
	"$TMP/bin/new" 100
judge "$TMP/new.fxt" >"$TMP/judged"
read -r n all _ <"$TMP/judged"
note "$n of $all"
assert_ge "$all" 30 "samples of a new program"
[ $((100 * n)) -ge $((90 * all)) ] || fail "a new program: $n of $all samples have their whole chains"
assert_ge "$(find "$TMP/cache/unwind" -type f | wc -l)" 3 "tables that are kept"

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

# ---- beside libdw, which walks copies of the same stacks ----

# prepare_postgres: $TMP/postgres is a database server that is busy by itself. It refuses to be root.
prepare_postgres() {
	local bin who="setpriv --reuid=65534 --regid=65534 --clear-groups"

	bin=$(find /usr/lib/postgresql/*/bin -name postgres 2>/dev/null | tail -1)
	if [ ! -x "$bin" ]; then
		note "not tested: postgres is not installed"
		return 1
	fi
	mkdir "$TMP/database"
	chown 65534:65534 "$TMP/database"
	chmod a+x "$TMP"
	# shellcheck disable=SC2086 # a command
	expect_exit 0 $who "${bin%/*}/initdb" --no-sync -D "$TMP/database"
	cat >"$TMP/postgres" <<-END
		#!/bin/sh
		exec $who $bin --single -D $TMP/database postgres >/dev/null 2>&1 <<-QUERY
		select count(distinct x % 1000), sum(length(md5(y::text))) from generate_series(1, 100000) x, generate_series(1, 100000) y
		QUERY
	END
	chmod +x "$TMP/postgres"
}

# compare MS PROGRAM ARGUMENT ...: of the stacks of that program in that time, which does not end, those that libdw finds likewise, frame by frame, in
# copies that perf takes in the same samples, but for the caller that libdw skips in the prologue of a function without a table; each of the others
# has a reason
compare() {
	local n all ms=$1

	shift
	COMPARE_EARLY_MS=$((200 * $(limit 1))) DEBUGINFOD_URLS='' expect_exit 0 timeout "$(limit 60)" "$COMPARE_STACKS" 499 "$ms" "$@"
	n=$(awk '$1 == "equal" || $1 == "libdw-skips" { n += $2 } END { print n + 0 }' "$TMP/stdout")
	all=$(awk '$1 != "without-copy" && $1 != "early" { n += $2 } END { print n }' "$TMP/stdout")
	note "$1: $n of $all are equal;$(awk '$2 > 0 && $1 != "equal" { printf " %s %s", $2, $1 }' "$TMP/stdout")"
	assert_ge "$all" 100 "stacks of $1 that were compared"
	if ! grep -qx 'other 0' "$TMP/stdout" || [ $((100 * n)) -lt $((at_least * all)) ]; then
		head -60 "$TMP/stderr" >&2
		fail "$1: $n of $all stacks are equal"
	fi
}

note "frame by frame what libdw makes of copies of the same stacks"
for program in "${shipped[@]}" $(type -P node || true); do
	case $program in
	*/python*) compare 1200 "$program" -I -c 'import json, re
def f(n):
	return f(n - 1) if n else len(re.findall("[ab]+c|d+", json.dumps({str(i): "abcd" * i for i in range(60)})))
while 1: f(20)' ;;
	*/bash) compare 1200 "$program" --norc -c 'f() { [ "$1" -gt 0 ] && f $(($1 - 1)) && return; while :; do x=${x:0:99}$RANDOM; done; }; f 2' ;;
	*/perl) compare 1200 "$program" -e 'sub f { my $n = shift; return $n ? f($n - 1) : join(",", sort map { $_ * 7 % 1000 } 1 .. 3000) =~ s/1+/2/gr } f(10) while 1' ;;
	*/sqlite3) compare 1200 "$program" :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c)
		select count(distinct x % 1000), sum(length(x)) from c' ;;
	*/node)
		# (its table takes long, since its builtins have none)
		expect_exit 0 "$KYMO" record --direct --force -e profile -o "$TMP/warm.fxt" -- "$program" -e 0
		compare $((800 + 400 * $(limit 1))) "$program" -e 'function f(n) { return n ? f(n - 1) + 1 : [1, 2, 3].map((x) => x * 2).length } for (;;) f(12)'
		;;
	esac
done
note "functions without tables that jump to each other, beside the tables that they had"
for part in "-DMAIN" "-g -fno-asynchronous-unwind-tables"; do
	# shellcheck disable=SC2086 # options
	gcc -O2 -fomit-frame-pointer $part -c -o "$TMP/bare${part:1:1}.o" "$ROOT/tests/support/loads/bare-load.c"
done
gcc -o "$TMP/bin/tables" "$TMP/bareD.o" "$TMP/bareg.o"
strip -g -o "$TMP/bin/bare" "$TMP/bin/tables"
COMPARE_TABLES=$TMP/bin/tables at_least=90 compare 1200 "$TMP/bin/bare"

if prepare_postgres; then
	# (it loads LLVM, whose table takes long, and is kept when it is complete)
	expect_exit 0 "$KYMO" record --direct --force -e profile -F 99 -o "$TMP/warm.fxt" -- \
		sh -c "timeout $(limit 4) $TMP/postgres; true"
	compare $((2000 + 500 * $(limit 1))) "$TMP/postgres"
fi
