#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names in a leak report, of a program that is built here: at addresses that nm and addr2line know,
# with the mapped file as kymo's own reports have it (all of it) and as those of sp-rtrace have it
# (its code alone).

. "$(dirname "$0")/../lib.sh"
need_command c++ nm readelf

cat >"$TMP/program.cc" <<-END
	#include <cstdlib>
	#include <vector>
	extern "C" __attribute__((noinline)) void *plain(int n)
	{
		return malloc(n * 3);
	}
	namespace some {
	__attribute__((noinline)) void *leak(int n, std::vector<int> &v)
	{
		v.push_back(n);
		return plain(n + 1);
	}
	}
	int main(int argc, char **)
	{
		std::vector<int> v;
		return some::leak(argc, v) == nullptr;
	}
END

# inside FILE SYMBOL: an address in it, as if it returned there
inside() {
	nm "$1" | while read -r address _ name; do
		[ "$name" != "$2" ] || printf '%x\n' $((0x$address + 5))
	done
}

# segments FILE: prints "FLAGS START END" of each loaded segment, in whole pages, decimal
segments() {
	readelf -lW "$1" | while read -r type _ vaddr _ _ size flags; do
		[ "$type" = LOAD ] || continue
		flags=${flags% *}
		echo "${flags// /} $((vaddr & ~4095)) $((((vaddr + size) + 4095) & ~4095))"
	done
}

# report FILE NAME BIAS MAP-START MAP-END: prints a report with three frames in FILE and one outside
# all files
report() {
	printf 'version=2.0, pid=4194000, \n<1> : memory (m)\n: %s => 0x%x-0x%x\n1. malloc(8) = 0x10\n' \
		"$2" "$4" "$5"
	for symbol in plain _ZN4some4leakEiRSt6vectorIiSaIiEE main; do
		printf '\t0x%x\n' $((0x$(inside "$1" $symbol) + $3))
	done
	printf '\t0x1234\n\n'
}

# resolve FILE OPTION ...: prints the texts of the frames, without parts that depend on the compiler
resolve() {
	expect_exit 0 "$KYMO" postprocess --resolve "$@"
	sed -n 's/^\t0x[0-9a-f]* //p' "$TMP/stdout" | sed 's/:[0-9]*$/:N/'
}

check() {
	local file=$1 bias=$2 all first last code

	all=$(segments "$file")
	[ "$(wc -l <<<"$all")" -gt 1 ] || fail "$file has no segments"
	first=$(awk 'NR == 1 { print $2 }' <<<"$all")
	last=$(awk 'END { print $3 }' <<<"$all")
	code=$(awk '$1 ~ /E/ { print $2, $3 }' <<<"$all")
	[ "$(wc -l <<<"$code")" = 1 ] || skip "$file has its code in more than one segment"

	report "$file" "$file" "$bias" $((first + bias)) $((last + bias)) >"$TMP/whole.txt"
	# shellcheck disable=SC2086
	set -- $code
	report "$file" "$file" "$bias" $(($1 + bias)) $(($2 + bias)) >"$TMP/code.txt"
	for way in whole code; do
		assert_eq "$(resolve "$TMP/$way.txt")" "$named" "names in $file, $way"
	done
	# Existing names are kept.
	"$KYMO" postprocess -r "$TMP/whole.txt" 2>"$TMP/stderr" | sed 's/plain()/known()/' >"$TMP/named.txt"
	assert_eq "$(resolve "$TMP/named.txt" | sed -n 1p)" "$(head -1 <<<"$named" | sed 's/plain/known/')" "a name that was there"
}

source=$TMP/program.cc
for pie in pie no-pie lld; do
	[ $pie = no-pie ] && bias=0 || bias=$((0x55d000000000))
	# Another linker leaves different gaps between segments.
	[ $pie = lld ] && options="-pie -fuse-ld=lld" || options=-$pie
	# shellcheck disable=SC2086
	if ! c++ -g -O1 $options "$source" -o "$TMP/$pie" 2>"$TMP/stderr"; then
		[ $pie = lld ] || skip "c++ makes no program with -$pie"
		continue
	fi
	named="plain() at $source:N
some::leak(int, std::vector<int, std::allocator<int> >&) at $source:N
main() at $source:N
in ??"
	check "$TMP/$pie" "$bias"
	strip -g "$TMP/$pie" -o "$TMP/bare"
	named="plain() from $TMP/bare
some::leak(int, std::vector<int, std::allocator<int> >&) from $TMP/bare
main() from $TMP/bare
in ??"
	check "$TMP/bare" "$bias"
done

# A path with a space, as a word and as others wrote it; a file that is not there; one below
# --sysroot.
mkdir -p "$TMP/root/usr/a b"
cp "$TMP/no-pie" "$TMP/root/usr/a b/program"
mapfile -t all < <(segments "$TMP/no-pie")
first=$(cut -d' ' -f2 <<<"${all[0]}") last=$(cut -d' ' -f3 <<<"${all[-1]}")
# shellcheck disable=SC1003
report "$TMP/no-pie" '/usr/a\040b/program' 0 "$first" "$last" >"$TMP/space.txt"
assert_eq "$(resolve --sysroot "$TMP/root" "$TMP/space.txt" | sed -n 1p)" "plain() at $source:N" "a path with a space"
resolve "$TMP/space.txt" >"$TMP/texts"
assert_eq "$(head -1 "$TMP/texts")" 'from /usr/a\040b/program' "a file that is not there"
assert_says "$TMP/stderr" "3 of 3 addresses without a name: /usr/a" \
	"the message where there are no names"
