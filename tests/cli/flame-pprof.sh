#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Output of `kymo flame` for pprof, read by protoc with the description of the format in
# tests/support/checkers/profile.proto, and compared field by field with flame-pprof.expected.

. "$(dirname "$0")/../lib.sh"
need_command protoc gzip

# profile FILE ARGUMENT ...: the profile of FILE as text, numbers of texts replaced by the texts
profile() {
	"$KYMO" flame "$@" -o "$TMP/p.pb.gz" --force 2>"$TMP/said" || fail "$(cat "$TMP/said")"
	gzip -dc "$TMP/p.pb.gz" >"$TMP/p.pb"
	protoc --decode=Profile -I "$ROOT/tests/support/checkers" profile.proto <"$TMP/p.pb" >"$TMP/p.raw" 2>/dev/null ||
		fail "protoc cannot read it"
	# Unknown fields are shown by their numbers.
	! grep -E '^ *[0-9]+[:{ ]' "$TMP/p.raw" || fail "there are fields that the format does not have"
	awk '
		NR == FNR {
			if (sub(/^string_table: /, ""))
				text[n++] = $0
			next
		}
		/^string_table/ { next }
		/^ *(type|unit|key|str|filename|build_id|name|system_name|comment|default_sample_type): / {
			match($0, /[0-9]+$/)
			number = substr($0, RSTART)
			if (number + 0 >= n)
				print "no text " number
			sub(/[0-9]+$/, "")
			print $0 text[number]
			next
		}
		{ print }' "$TMP/p.raw" "$TMP/p.raw"
}

G=$ROOT/tests/golden/fxt
{
	echo "# with names, on CPU"
	profile "$G/profile.fxt"
	echo "# one process, without names, on and off CPU"
	profile "$G/profile-bare.fxt" --both --pid 300,100 --title "the title"
} >"$TMP/is"
if [ "${UPDATE:-}" ]; then
	cp "$TMP/is" "$(dirname "$0")/flame-pprof.expected"
fi
diff -u "$(dirname "$0")/flame-pprof.expected" "$TMP/is" || fail "the profile is another one"

# All samples are there, each with two values.
profile "$G/profile.fxt" >"$TMP/p"
sum=$(awk '/^sample /{ v = 0 } /^  value/ && v++ == 0 { sum += $2 } END { print sum }' "$TMP/p")
assert_eq "$sum" "$("$KYMO" dump --json "$G/profile.fxt" |
	gojq -s '[.[] | select(.record == "backtrace")] | length - 2')" "samples in all"
# All objects that locations and samples refer to exist.
for what in mapping location function; do
	grep -E "^ *${what}_id: " "$TMP/p" | grep -o '[0-9]*$' | sort -u >"$TMP/used"
	sed -n "/^$what {/,/^}/s/^  id: //p" "$TMP/p" | sort -u >"$TMP/defined"
	assert_ge "$(wc -l <"$TMP/used")" 1 "${what}s that are referred to"
	comm -23 "$TMP/used" "$TMP/defined" >"$TMP/missing"
	assert_empty "$TMP/missing" "${what}s that are not defined"
done

# pprof calls the first mapping's file the program ("File:"): that is what most samples are of, not
# the library that they are in.
"$MAKE_PROFILE" "$TMP/program.fxt" <<-END
	start elsewhere
	task 100 small
	map 100 400000 1000 0 - /usr/bin/small
	sample 100 400010
	task 200 large
	map 200 7f0000000000 1000 0 - /lib/libc.so.6
	map 200 55d000000000 1000 0 - /usr/bin/large
	sample 200 7f0000000010 55d000000010
	sample 200 7f0000000020 55d000000010
END
profile "$TMP/program.fxt" >"$TMP/p"
assert_eq "$(sed -n 's/^  filename: //p' "$TMP/p" | xargs)" "/usr/bin/large /usr/bin/small /lib/libc.so.6" "files of the mappings"
