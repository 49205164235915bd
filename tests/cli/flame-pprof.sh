#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `kymo flame` writes for pprof, read by protoc by the description of the format that follows (only
# field numbers, names and types; written for this test), and compared field by field with flame-pprof.expected.

. "$(dirname "$0")/../lib.sh"
need_command protoc gzip

cat >"$TMP/profile.proto" <<-END
	syntax = "proto3";
	message Profile {
		repeated ValueType sample_type = 1;
		repeated Sample sample = 2;
		repeated Mapping mapping = 3;
		repeated Location location = 4;
		repeated Function function = 5;
		repeated string string_table = 6;
		int64 drop_frames = 7;
		int64 keep_frames = 8;
		int64 time_nanos = 9;
		int64 duration_nanos = 10;
		ValueType period_type = 11;
		int64 period = 12;
		repeated int64 comment = 13;
		int64 default_sample_type = 14;
	}
	message ValueType { int64 type = 1; int64 unit = 2; }
	message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
	message Label { int64 key = 1; int64 str = 2; int64 num = 3; int64 num_unit = 4; }
	message Mapping {
		uint64 id = 1;
		uint64 memory_start = 2;
		uint64 memory_limit = 3;
		uint64 file_offset = 4;
		int64 filename = 5;
		int64 build_id = 6;
		bool has_functions = 7;
		bool has_filenames = 8;
		bool has_line_numbers = 9;
		bool has_inline_frames = 10;
	}
	message Location {
		uint64 id = 1;
		uint64 mapping_id = 2;
		uint64 address = 3;
		repeated Line line = 4;
		bool is_folded = 5;
	}
	message Line { uint64 function_id = 1; int64 line = 2; int64 column = 3; }
	message Function { int64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; int64 start_line = 5; }
END

# profile FILE ARGUMENT ...: the profile of FILE as text, numbers of texts replaced by the texts
profile() {
	"$KYMO" flame "$@" -o "$TMP/p.pb.gz" --force 2>"$TMP/said" || fail "$(cat "$TMP/said")"
	gzip -dc "$TMP/p.pb.gz" >"$TMP/p.pb"
	protoc --decode=Profile -I "$TMP" profile.proto <"$TMP/p.pb" >"$TMP/p.raw" 2>/dev/null ||
		fail "protoc cannot read it"
	# Fields that nobody knows are shown by their numbers.
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
	jq -s '[.[] | select(.record == "backtrace")] | length - 2')" "samples in all"
# What locations and samples refer to is there.
for what in mapping location function; do
	grep -E "^ *${what}_id: " "$TMP/p" | grep -o '[0-9]*$' | sort -u >"$TMP/used"
	sed -n "/^$what {/,/^}/s/^  id: //p" "$TMP/p" | sort -u >"$TMP/defined"
	comm -23 "$TMP/used" "$TMP/defined" >"$TMP/missing"
	assert_empty "$TMP/missing" "${what}s that are not defined"
done
