#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A kind of record that is added to the table of kinds does not compile before all of it is there. That
# a stage takes it, and that the merge queues it, is in test-recorder-stages.c and test-merge.c of
# tests/unit/capture/recorder/, which go through the table.

. "$(dirname "$0")/../lib.sh"
need_command cc

copy=$TMP/tree
mkdir -p "$copy/capture"
cp -r "$ROOT/base" "$ROOT/model" "$ROOT/writer" "$ROOT/bpf" "$copy"
cp -r "$ROOT/capture/programs" "$copy/capture"
kinds=$copy/bpf/record-kinds.h
decode=$copy/capture/programs/decode.c

# compiles: the decoder of all kinds, and the words of the compiler in $TMP/said
compiles() {
	cc -std=gnu17 -D_GNU_SOURCE -I "$copy" -fsyntax-only "$decode" 2>"$TMP/said"
}

# expect_not TEXT: it does not compile, since TEXT is missing or wrong
expect_not() {
	! compiles || fail "it compiles without $1"
	assert_says "$TMP/said" "$1" "error of the compiler"
}

compiles || fail "the tree does not compile: $(cat "$TMP/said")"
sed -i 's/^\tROW(FORK, 1,/\tROW(DOOR, 39, rec_door, REC_WHOLE(rec_door), LIFECYCLE) \\\n&/' "$kinds"
expect_not rec_door
cat >>"$copy/bpf/record.h" <<-'END'
	struct rec_door {
		struct rec_head head;
		__u64 opened_ns;
	};
END
expect_not decode_rec_door_is_valid
sed -i '/^static bool decode_rec_fork_is_valid/i static bool decode_rec_door_is_valid(const struct rec_door *rec)\n{\n\treturn rec->opened_ns > 0;\n}\n' "$decode"
expect_not 'array index'
sed -i 's/REC_KINDS = 39,/REC_KINDS = 40,/' "$kinds"
compiles || fail "with all of it, it does not compile: $(cat "$TMP/said")"

note "a number that another kind has"
sed -i 's/ROW(DOOR, 39,/ROW(DOOR, 12,/' "$kinds"
expect_not duplicate
