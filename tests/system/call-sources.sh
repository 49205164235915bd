#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls in the terms of the source code: methods of C++, lines, static probes, with the arguments
# and results from debug information, also for a stripped program.

. "$(dirname "$0")/../lib.sh"
need_btf
need_bus
need_command g++
need_command objcopy
[ "$(uname -m)" = x86_64 ] || skip "calls are recorded on x86-64"
remember_bpf

source=$ROOT/tests/support/loads/place-methods.cc

# calls PROGRAM SPEC ...: records the specified calls of PROGRAM, which runs its loop 100 times.
# Writes them to $TMP/calls as JSON, in the order of their begins. (The program prints a number.)
calls() {
	local program=$1 specs=()
	shift
	for spec; do
		specs+=(--call "$program:$spec")
	done
	"$KYMO" calls --direct --json "${specs[@]}" -- "$program" 100 >"$TMP/said" 2>"$TMP/stderr" ||
		fail "exit status $?: $(cat "$TMP/stderr")"
	gojq -sc 'map(objects) | sort_by(.timestamp_ns)[]' "$TMP/said" >"$TMP/calls"
}

# count FILTER: prints the number of matching calls in $TMP/calls
count() {
	gojq -c "select($1)" "$TMP/calls" | wc -l
}

# known NAME WANTED: prints how many of the arguments in WANTED, an object, have their values in the
# calls of NAME or a clone of it; the others must be unavailable
known() {
	gojq -r --arg name "$1" --argjson wanted "$2" 'select(.function | split(".")[0] == $name) | .arguments as $are |
		[$wanted | to_entries[] | $are[.key] as $is |
			if $is == .value then 1
			elif ($is | type) == "string" and ($is | startswith("<unavailable: ")) then 0
			else "\(.key) is \($is)" end] |
		map(strings)[0] // add' "$TMP/calls"
}

g++ -g -O0 -o "$TMP/plain" "$source"
g++ -g -O2 -fomit-frame-pointer -o "$TMP/fast" "$source"
objcopy --only-keep-debug "$TMP/fast" "$TMP/apart.debug"
strip -o "$TMP/apart" "$TMP/fast"
objcopy --add-gnu-debuglink="$TMP/apart.debug" "$TMP/apart"

note "functions without types are recorded, and a message has the reason"
# untyped FILE NAME REASON: records NAME without arguments, because of REASON
untyped() {
	calls "$1" "$2"
	assert_eq "$(count ".function == \"$2\" and .arguments == {} and .return == null")" 100 "calls of $2 in $1"
	assert_says "$TMP/stderr" "'$2' is recorded without arguments and result: $3"
}
strip -o "$TMP/stripped" "$TMP/fast"
strip -g -o "$TMP/names" "$TMP/fast"
untyped "$TMP/names" plain_two "there is no debug information"
(cd "$TMP" && g++ -g -gsplit-dwarf -O2 -c -o split.o "$source" && g++ -o split split.o)
untyped "$TMP/split" plain_two "their types are in another file (split.dwo), which kymo does not read"
if command -v xz >/dev/null; then
	xz -k "$TMP/names"
	objcopy --add-section .gnu_debugdata="$TMP/names.xz" "$TMP/stripped" "$TMP/packed"
	untyped "$TMP/packed" plain_two "there is no debug information"
fi

note "the functions of an IFUNC, with the arguments of each"
cat >"$TMP/select.c" <<-'END'
	static volatile int which;

	static int one(int n, const char *text)
	{
		return n + *text;
	}

	static int two(long n)
	{
		return (int)n;
	}

	static void *pick(void)
	{
		return which ? (void *)two : (void *)one;
	}

	int selected(int n, const char *text) __attribute__((ifunc("pick")));

	int main(void)
	{
		int sum = 0;

		for (int i = 0; i < 100; i++)
			sum += selected(i, "a");
		return sum != 14650;
	}
END
gcc -g -O2 -fno-inline -o "$TMP/select" "$TMP/select.c"
calls "$TMP/select" selected
assert_eq "$(count '.function == "one" and .arguments.text == "\"a\"" and .return == .arguments.n + 97')" 100 "calls"
expect_exit 0 "$KYMO" calls --list "$TMP/select:selected"
assert_eq "$(sed -n "s/.*='\(.*\)/\1/p" "$TMP/stdout" | sort | paste -sd ' ')" \
	"one'(int32 n, str text) -> int32 two'(int64 n) -> int32" "its functions"
expect_exit 0 "$KYMO" calls --list "$TMP/select:pick"
assert_says "$TMP/stdout" "='pick'()"
strip -g "$TMP/select"
calls "$TMP/select" selected
assert_eq "$(count '.function == "one" and .arguments == {}')" 100 "calls without types"
assert_says "$TMP/stderr" "'selected' is recorded without arguments and result: there is no debug information"

note "names with other characters than those of ASCII"
gcc -O2 -fno-inline -o "$TMP/wide" -x c - <<-'END'
	__attribute__((noipa)) int größe(int n) { return n + 1; }
	__attribute__((noipa)) int size(int n) { return n + 2; }
	int main(void) { return größe(1) + size(2) != 6; }
END
expect_exit 0 "$KYMO" calls --direct --json --call "$TMP/wide:*e" -- "$TMP/wide"
assert_says "$TMP/stdout" '"function":"gr????e"'
assert_says "$TMP/stdout" '"function":"size"'

for program in plain fast apart; do
	note "$program: methods, by their names in source"
	calls "$TMP/$program" shop::Counter::add shop::price 'twice<int>' plain_two
	# (the page of the text is not in memory before its first access: the program has accessed
	# it before the second call)
	assert_ge "$(count '.function == "shop::Counter::add(int, char const*)" and .arguments.why == "\"because\""')" 99 "calls with a string"
	assert_eq "$(count '.arguments.by >= 10 and .arguments.by < 110')" 100 "calls with a number"
	assert_eq "$(count '.function == "shop::Counter::add(shop::Point, shop::Colour) const" and
		.arguments["by.y"] == -2 and .arguments.colour == "BLUE"')" 100 "calls with a structure and an enumeration"
	assert_eq "$(gojq -c 'select(.arguments["by.x"] != null) | .arguments["by.x"]' "$TMP/calls" | tail -n 1)" 99 "the last one"
	assert_eq "$(count '.function == "shop::price" and .return == 54 and .arguments["m.id"] == 7 and
		.arguments["l.id"] == 21 and .arguments["l.to"] == 23 and .arguments.size == "LARGE" and .arguments.yes == true and
		(.arguments.rate | startswith("<unavailable: in a vector register"))')" 100 "calls with structures in registers and on the stack"
	assert_eq "$(count '.function == "shop::twice<int>" and .return == 2 * .arguments.value')" 100 "calls of a template"
	assert_eq "$(count '.function == "plain_two" and .arguments.g == 7 and .arguments.last == "\"last\""')" 100 "calls with arguments on the stack"
	assert_eq "$(count '.left_by != null')" 0 "calls that did not return"

	note "$program: lines and static probes"
	line=$(grep -n 'line that is inlined' "$source" | cut -d: -f1)
	calls "$TMP/$program" "place-methods.cc:$line" usdt:kymotest:entered
	assert_eq "$(count ".function == \"place-methods.cc:$line\"")" 200 "passes of a line that is inlined in two functions"
	assert_eq "$(gojq -c "select(.function == \"place-methods.cc:$line\") | .arguments.n" "$TMP/calls" | sort -nu | tail -n 1)" 99 "its variable"
	assert_eq "$(count '.function == "kymotest:entered" and .arguments.arg2 == 99')" 100 "passes of a static probe"
	assert_eq "$(gojq -c 'select(.function == "kymotest:entered") | .arguments.arg1' "$TMP/calls" | sort -nu | wc -l)" 100 "values of its argument"
done

note "a static probe that the program passes by unless its semaphore is raised"
calls "$TMP/fast" usdt:kymotest:guarded
assert_eq "$(count '.function == "kymotest:guarded"')" 100 "passes of a static probe with a semaphore"
assert_eq "$(gojq -c .arguments.arg1 "$TMP/calls" | sort -nu | wc -l)" 100 "values of its argument"

note "bit fields, and numbers of 128 bits"
g++ -g -O2 -o "$TMP/names" "$ROOT/tests/support/loads/place-names.cc"
calls "$TMP/names" pass_bits pass_many_bits wide_sum
assert_eq "$(gojq -c '.arguments' "$TMP/calls" | sort)" '{"a.high":2,"a.low":3,"b.high":0,"b.low":4}
{"n":2,"what.b.f":2,"what.b.s":-3,"what.b.x":2,"what.b.y":4,"what.last":5}
{"n":2,"what.f":2,"what.s":-3,"what.x":2,"what.y":4}' "arguments"

note "classes that are passed by their address, and two that are not"
calls "$TMP/names" pass_ended pass_copied pass_moved pass_outer pass_derived pass_virtual pass_plain pass_box
gojq -c '[.function, (.arguments | del(.n) | to_entries | sort_by(.key)[] |
	select(.key | IN("what.inner", "what._vptr.Virtual") | not) | "\(.key[5:])=\(.value)")]' "$TMP/calls" >"$TMP/is"
diff - "$TMP/is" >&2 <<-END || fail "the recorded calls (>) differ from the calls made (<)"
	["pass_ended","v=2","w=2"]
	["pass_copied","v=2"]
	["pass_moved","v=2"]
	["pass_outer","before=2","behind=3"]
	["pass_derived","u=2","v=2"]
	["pass_virtual","v=2"]
	["pass_plain","v=2","w=2"]
	["pass_box","v=2"]
END
cat >"$TMP/library.cc" <<-'END'
	#include <memory>
	#include <string>
	#include <vector>
	#define NOINLINE __attribute__((noinline, noipa))
	NOINLINE size_t by_text(std::string text) { return text.size(); }
	NOINLINE int by_owner(std::unique_ptr<int> p) { return *p; }
	NOINLINE size_t by_list(std::vector<int> list) { return list.size(); }
	NOINLINE std::string make_text(int n) { return std::string(n, 'q'); }
	int main()
	{
		return by_text("by value") + by_owner(std::make_unique<int>(7)) + by_list({ 1, 2, 3 }) + make_text(2).size() != 20;
	}
END
g++ -g -O2 -o "$TMP/library" "$TMP/library.cc"
calls "$TMP/library" by_text by_owner by_list make_text
assert_eq "$(count '.function == "by_text" and .return == 8 and .arguments["text._M_dataplus._M_p"] == "\"by value\"" and
	.arguments["text._M_string_length"] == 8')" 1 "calls with a text"
assert_eq "$(count '.function == "by_owner" and .return == 7 and .arguments.p > 4096')" 1 "... a unique pointer"
assert_eq "$(count '.function == "by_list" and .return == 3 and
	(.arguments | .["list._M_impl._M_finish"] - .["list._M_impl._M_start"]) == 12')" 1 "... a list"
assert_eq "$(count '.function == "make_text[abi:cxx11]" and .arguments.n == 2 and (.return | contains("_M_string_length=2,"))')" 1 "... a text as its result"

note "a method of a template's class, and a name with other letters"
calls "$TMP/names" Box::plus größe
assert_eq "$(gojq -c '[.function, .arguments.n, .return]' "$TMP/calls")" '["Box<int>::plus",2,4]
["größe",2,6]' "calls"

note "arguments and results of all types"
g++ -g -O0 -o "$TMP/passing" "$ROOT/tests/support/loads/place-passing.cc"
calls "$TMP/passing" 'pass_*' 'return_*'
numbers='.arguments | [.n, .a, .b, .c, .d, .e]'
assert_eq "$(count "($numbers) == [1, 2, 3, 4, 5, 6]")" 21 "calls with these numbers as arguments"
assert_eq "$(count '.function == "pass_late" and .arguments.g == 7 and .arguments.h == 8')" 1 "... and two on the stack"
assert_eq "$(count '.function == "pass_wide_bits" and .arguments.d == 5')" 1 "... and one with as many as possible"
assert_says "$TMP/stderr" "only the first 8 values are recorded"
assert_eq "$(count '.function == "pass_on_stack" and .arguments.n == 2 and .arguments["what.y"] == 3')" 1 "alignment on the stack"
assert_eq "$(count '(.function | startswith("return_")) and .arguments.n == 7')" 17 "calls with results of all types"
assert_eq "$(count '(.function | IN("return_single", "return_mixed")) and .return == 7')" 2 "results in a general register"
assert_eq "$(count '.function == "return_large" and .return > 4096 and (.return | type) == "number"')" 1 "the address of a result"
assert_eq "$(gojq -r 'select(.function | IN("return_ended", "return_packed", "return_pair", "return_wide")) | .function + " " + .return' "$TMP/calls" | sort | paste -sd,)" \
	"return_ended {x=7},return_packed {c=1, i=7},return_pair {a=7, b=7},return_wide 7" "results of two registers, and in memory"
assert_eq "$(gojq -r 'select(.function | IN("return_deep", "return_floats", "return_vector")) | .function + " " + .return' "$TMP/calls" | sort | paste -sd,)" \
	"return_deep <unavailable: neither a number nor a pointer>,return_floats <unavailable: in a vector register>,return_vector <unavailable: larger than a register>" \
	"results that are not recorded"

note "arguments that compilers place differently, and a result that is removed"
cat >"$TMP/places.c" <<-'END'
	#define OWN __attribute__((noinline))
	#define KEEP __asm__ volatile("" ::: "memory")
	typedef char small __attribute__((vector_size(4)));
	typedef int large __attribute__((vector_size(32)));
	enum __attribute__((packed)) size { LITTLE = 1, BIG = 200 };

	static int sink;

	OWN int aligns(int a, int b, int c, int d, int e, int f, int g)
	{
		volatile int room __attribute__((aligned(64))) = a;

		return room + b + c + d + e + f + g;
	}
	OWN int halves(int a, int b, int c, int d, int e, __int128 f, int g) { KEEP; return g; }
	OWN int __attribute__((ms_abi)) foreign(int a, int b, int c) { KEEP; return c; }
	OWN int vectors(small a, large b, int c, int d, int e, int f, int g, int h, int i) { KEEP; return c + i; }
	OWN large makes(int a, int b) { KEEP; return (large){ a, b }; }
	OWN enum size names(enum size a) { KEEP; return a; }
	static OWN int unused(int a) { KEEP; sink += a; KEEP; return a * 77; }

	int main(void)
	{
		small s = { 1 };
		large l = { 2 };

		unused(5);
		unused(6);
		return aligns(1, 2, 3, 4, 5, 6, 7) + halves(1, 2, 3, 4, 5, 6, 7) + foreign(1, 2, 3) +
		       vectors(s, l, 1, 2, 3, 4, 5, 6, 7) + names(BIG) + makes(1, 2)[1] - 248;
	}
END
# (the numbers of known values: of halves, foreign, vectors, makes)
for row in "8 - 6 0 gcc -O0" "1 3 1 2 gcc -O2" "5 0 5 2 clang -O0" "0 1 1 2 clang -O2"; do
	read -r halves foreign vectors makes compiler <<<"$row"
	command -v "${compiler% *}" >/dev/null || continue
	# shellcheck disable=SC2086
	$compiler -g -w -o "$TMP/places" "$TMP/places.c" 2>/dev/null
	calls "$TMP/places" aligns halves foreign vectors makes names unused
	assert_eq "$(known aligns '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}')" 7 \
		"$compiler: a function that aligns its stack"
	assert_eq "$(known halves '{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f.low": 6, "f.high": 0, "g": 7}')" "$halves" \
		"$compiler: a number of 128 bits behind the registers"
	# (gcc does not say that a function has the convention of Windows)
	[ "$foreign" = - ] ||
		assert_eq "$(known foreign '{"a": 1, "b": 2, "c": 3}')" "$foreign" \
			"$compiler: a function with the convention of Windows"
	assert_eq "$(known vectors '{"c": 1, "d": 2, "e": 3, "f": 4, "g": 5, "h": 6}')" "$vectors" "$compiler: vectors"
	assert_eq "$(known makes '{"a": 1, "b": 2}')" "$makes" "$compiler: a vector as the result"
	assert_eq "$(gojq -r 'select(.function | split(".")[0] | IN("aligns", "vectors")) | .return' "$TMP/calls" | paste -sd ' ')" \
		"28 8" "$compiler: results"
	assert_eq "$(count '.function == "names" and .arguments.a == "BIG" and .return == "BIG"')" 1 "$compiler: a byte above 127"
	# (clang does not say, before version 17, that it has removed a result)
	[ "$compiler" = "clang -O2" ] ||
		assert_eq "$(count '(.function | startswith("unused")) and (.return == 77 * .arguments.a or (.return | strings | contains("unavailable")))')" \
			2 "$compiler: a result that no caller uses"
done

if command -v gfortran >/dev/null; then
	note "Fortran: arguments that are passed by their addresses, and texts as results"
	cat >"$TMP/sums.f90" <<-'END'
		module m
		contains
		  integer function both(a, x, b)
		    integer, intent(in) :: a, b
		    real, intent(in) :: x
		    both = a + int(x) + b
		  end function
		  integer function list(v, n)
		    integer, intent(in) :: v(:)
		    integer, value :: n
		    list = sum(v) + n
		  end function
		  function text(s, n) result(r)
		    character(len=*), intent(in) :: s
		    integer, value :: n
		    character(len=n) :: r
		    r = s
		  end function
		end module
		program main
		  use m
		  integer :: v(2) = [1, 2]
		  if (both(7, 8.0, 9) /= 24 .or. list(v, 3) /= 6 .or. text("abc", 4) /= "abc") stop 1
		end program
	END
	for level in -O0 "-O2 -fno-inline -fno-ipa-cp -fno-ipa-sra"; do
		# shellcheck disable=SC2086
		(cd "$TMP" && gfortran -g $level -o sums sums.f90)
		calls "$TMP/sums" __m_MOD_both __m_MOD_list __m_MOD_text
		gojq -c '[.function, .arguments.a, .arguments.b, .arguments.n]' "$TMP/calls" | sort >"$TMP/is"
		diff - "$TMP/is" >&2 <<-END || fail "$level: the recorded calls (>) differ from the calls made (<)"
			["__m_MOD_both",7,9,null]
			["__m_MOD_list",null,null,3]
			["__m_MOD_text",null,null,4]
		END
	done
else
	note "not tested: Fortran (there is no gfortran)"
fi

note "a function in two parts, and a number of an unusual format"
gcc -g -O2 -o "$TMP/split" "$ROOT/tests/support/loads/place-split.c"
nm "$TMP/split" | grep -F split.cold >/dev/null || fail "the compiler does not split the function"
calls "$TMP/split" split wide
assert_eq "$(count '.function == "split" and .return == .arguments.n + 1 and .arguments.text == "\"abc\""')" 100 "calls"
assert_eq "$(count '.function == "wide" and .return == .arguments.n + 1 and
	(.arguments.number | startswith("<unavailable: neither a number nor a pointer"))')" 100 "calls with a long double"

note "conditions"
calls "$TMP/fast" "plain_one if \$n >= 90"
assert_eq "$(count .)" 10 "calls"

note "the specifications that --list prints mean the same"
"$KYMO" calls --list "$TMP/fast:shop::price" >"$TMP/listed"
spec=$(sed -n 1p "$TMP/listed")
calls "$TMP/fast" "${spec#*:}"
assert_eq "$(count '.return == 54')" 100 "calls"

note "places that are none"
# refused WHAT SPEC
refused() {
	expect_exit 1 "$KYMO" record --direct -d 1 --call "$2" -o "$TMP/none.fxt"
	assert_says "$TMP/stderr" "$1" "the message about $2"
	rm -f "$TMP/none.fxt"
}
read -r begin size < <("$KYMO" calls --list "$TMP/fast:shop::price" | sed -n '1s/.*:+\(0x[0-9a-f]*\)+\(0x[0-9a-f]*\)=.*/\1 \2/p')
refused "has no function 'f' at this address" "$TMP/fast:+$((begin + 1))+$size='f'()"
refused "has no function 'f' at this address" "$TMP/fast:+0+$size='f'()"
strip -o "$TMP/bare" "$TMP/fast"
refused "has no function 'f' at this address" "$TMP/bare:+$((begin + 1))+$size='f'()"
refused "did you mean 'shop::price'?" "$TMP/fast:shop::prise"
refused "the nearest lines are" "$TMP/fast:place-methods.cc:$((line + 1))"

note "by the service, which gets ranges and descriptors; a user's own programs"
start_bus
KYMOD_GROUP=$(id -g uucp 2>/dev/null || echo kymo) start_kymod
rm -f "$TMP/served.fxt"
expect_exit 0 "$KYMO" record --bus "$BUS" --call "$TMP/apart:place-methods.cc:$line" --call "$TMP/apart:shop::price" \
	-o "$TMP/served.fxt" -- "$TMP/apart" 100
expect_exit 0 "$KYMO" calls --json "$TMP/served.fxt"
cp "$TMP/stdout" "$TMP/calls"
check_finds_nothing "$TMP/served.fxt"
assert_eq "$(count ".function == \"place-methods.cc:$line\" and .arguments.n != null")" 200 "passes of the line"
assert_eq "$(count '.function == "shop::price" and .return == 54')" 100 "calls"
refused_by_service() {
	expect_exit 1 "$KYMO" record --bus "$BUS" -d 1 --call "$2" -o "$TMP/none.fxt"
	assert_says "$TMP/stderr" "$1" "the message about $2"
}
refused_by_service "has no function 'f' at this address" "$TMP/fast:+$((begin + 1))+$size='f'()"
if own=$(id -u uucp) && command -v setpriv >/dev/null && ! pgrep -u "$own" >/dev/null; then
	open_bus_to_all
	mkdir -m 777 "$TMP/own"
	cp "$KYMO" "$TMP/own/kymo"
	cp "$TMP/fast" "$TMP/own/fast"
	as_own() {
		setpriv --reuid="$own" --regid="$own" --clear-groups "$TMP/own/kymo" record --force --own --bus "$BUS" \
			-e calls --call "$1" -o "$TMP/own/t.fxt" -- "$TMP/own/fast" 100 2>"$TMP/stderr"
	}
	! as_own "$TMP/own/fast:place-methods.cc:$line" || fail "lines of others' files are recorded"
	assert_says "$TMP/stderr" "is not your own file" "the message to the user"
	chown "$own" "$TMP/own/fast"
	as_own "$TMP/own/fast:place-methods.cc:$line" || fail "exit status $?: $(cat "$TMP/stderr")"
	"$KYMO" calls --json "$TMP/own/t.fxt" >"$TMP/calls"
	assert_eq "$(count .)" 200 "passes of his own"
fi
stop_kymod
