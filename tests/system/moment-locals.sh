#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Moments of programs at -O0, -O2 and -O3, with and without frame pointers: each local that gdb
# prints at a breakpoint has the same value in kymo's trace file, unless it is in a vector register,
# which kymo reports. Where gdb prints <optimized out>, kymo reports this, too.

. "$(dirname "$0")/../lib.sh"
need_btf
need_command gcc
need_command gdb
[ "$(uname -m)" = x86_64 ] || skip "moments are recorded on x86-64"

cat >"$TMP/locals.c" <<-'EOF'
	#include <stdio.h>
	#include <string.h>
	struct pair { int a; long b; };
	enum color { RED, GREEN, BLUE };
	static long total = 5;
	__attribute__((noinline)) static long sink(long value)
	{
		total += value;
		__asm__ volatile("" ::: "memory");
		return total; /* point */
	}
	__attribute__((noinline)) static long plain(int n, const char *text, struct pair *p)
	{
		int twice = n * 2;
		unsigned char small = (unsigned char)(n + 200);
		long big = (long)n << 40;
		char name[12] = "";
		struct pair copy = *p;
		enum color c = (enum color)(n % 3);
		size_t length = strlen(text);
		snprintf(name, sizeof(name), "%s%d", text, twice);
		copy.a += small;
		sink(copy.a + big); /* point */
		return twice + name[0] + (long)c + (long)length + copy.b;
	}
	/* What is in vector registers, and what is gone. */
	__attribute__((noinline)) static double wide(double x, int n)
	{
		double half = x / 2, sum = 0;
		int later = n + 7, constant = 42;
		for (int i = 0; i < n; i++) {
			double step = half * i;
			sum += step;
			sink((long)sum); /* point */
		}
		return sum + half + constant + later;
	}
	static inline long inner(long m)
	{
		long square = m * m;
		sink(square); /* point */
		return square + 1;
	}
	__attribute__((noinline)) static long outer(long k)
	{
		long before = k + 3, after = inner(before);
		return before * after;
	}
	int main(int argc, char **argv)
	{
		long all = 0;
		for (int i = 1; i < 4; i++) {
			struct pair p = { i, i * 100L };
			all += plain(i * 11, "abc", &p) + (long)wide(i * 1.5, i + 1) + outer(i);
		}
		return argc > 5 ? (int)all : printf("%ld\n", all) < 0;
	}
EOF
points=() programs=()
for opt in O0 O2 O3; do
	for frame in omit no-omit; do
		# (without PIE, addresses are equal to those in the file, also under gdb)
		gcc -g -$opt -f$frame-frame-pointer -fno-pie -no-pie -o "$TMP/$opt-$frame" "$TMP/locals.c"
		programs+=("$opt-$frame")
		while IFS=: read -r line _; do
			points+=(--moment "$TMP/$opt-$frame:locals.c:$line")
		done < <(grep -n '/\* point \*/' "$TMP/locals.c")
	done
done
expect_exit 0 "$KYMO" record --direct -e moments "${points[@]}" -o "$TMP/m.fxt" -- \
	sh -c "cd '$TMP'; $(printf './%s; ' "${programs[@]}")"
expect_exit 0 "$KYMO" export --format tfile -o "$TMP/m.tf" "$TMP/m.fxt"
dump_records "$TMP/m.fxt"
# for each point "FILE ADDRESS", by the plan
events point | gojq -r .args.plan | awk -F'\t\t' '{
	for (i = 1; i <= NF; i++) {
		split($i, words, "\t")
		of[words[1]] = words[2]
	}
	print of["file"], of["at"]
}' | sort -u >"$TMP/points"
expect_exit 0 "$KYMO" moments --json "$TMP/m.fxt"
cp "$TMP/stdout" "$TMP/moments"

# frames FILE: prints gdb's output as "FRAME NAME VALUE" with tabs, without addresses
frames() {
	awk '/^== / {
		frame++
		split("", seen)
	}
	frame && (at = index($0, " = ")) && !((name = substr($0, 1, at - 1)) in seen) {
		seen[name] = 1
		value = substr($0, at + 3)
		gsub(/0x[0-9a-f]+/, "0x", value)
		print frame "\t" name "\t" value
	}' "$1"
}

# Prints each variable that differs from the rules at the head of this file, and the total numbers.
compare() {
	awk -F'\t' '
		FILENAME == ARGV[1] { why[$1, $2] = $3 }
		FILENAME == ARGV[2] { ours[$1, $2] = $3 }
		FILENAME != ARGV[3] { next }
		$3 == "<optimized out>" { gone += why[$1, $2] ~ /optimised out/ }
		$3 == "<optimized out>" && why[$1, $2] ~ /optimised out/ { next }
		ours[$1, $2] == $3 { same++; next }
		ours[$1, $2] == "<unavailable>" && why[$1, $2] ~ /vector register/ { vector++; next }
		{ print "frame " $1 ", " $2 ": gdb " $3 ", ours " ours[$1, $2] ", kymo " why[$1, $2] }
		END { print "same", same + 0, "vector", vector + 0, "gone", gone + 0 }' "$@"
}

for program in "${programs[@]}"; do
	script=$(grep -lx "file $TMP/$program" "$TMP"/m-*.gdb)
	{
		grep -F "$TMP/$program " "$TMP/points" | while read -r _ address; do
			printf 'break *%s\ncommands\nsilent\necho == \\n\ninfo args\ninfo locals\ncontinue\nend\n' "$address"
		done
		echo run
	} >"$TMP/live.gdb"
	sed -n 's/^# *\([0-9]\+\) .*/tfind \1\necho == \\n\ninfo args\ninfo locals/p' "$script" >"$TMP/ours.gdb"
	expect_exit 0 gdb -nx -batch -x "$TMP/live.gdb" "$TMP/$program"
	frames "$TMP/stdout" >"$TMP/live"
	expect_exit 0 gdb -nx -batch -x "$script" -x "$TMP/ours.gdb"
	frames "$TMP/stdout" >"$TMP/ours"
	pid=${script##*-} pid=${pid%.gdb}
	gojq -r --argjson pid "$pid" -n '[inputs | select(.process_id == $pid) | .not_collected] | to_entries[] |
		(.key + 1) as $i | .value | to_entries[] | "\($i)\t\(.key)\t\(.value)"' "$TMP/moments" >"$TMP/why"
	compare "$TMP/why" "$TMP/ours" "$TMP/live" >"$TMP/is"
	read -r _ same _ vector _ gone < <(tail -n 1 "$TMP/is")
	note "$program: $same equal, $vector in vector registers, $gone optimised out"
	[ "$(wc -l <"$TMP/is")" = 1 ] || {
		head -n -1 "$TMP/is" >&2
		fail "$program: locals are not what gdb prints at a breakpoint"
	}
	# (the number depends on the compiler)
	assert_ge "$same" 50 "equal locals"
	case $program in
	O0-*) assert_eq "$vector $gone" "0 0" "locals that a program without optimisation has not in memory" ;;
	*) assert_ge "$vector" 3 "locals in vector registers" && assert_ge "$gone" 3 "locals that are optimised out" ;;
	esac
done
