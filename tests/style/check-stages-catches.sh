#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of stages must pass the tree as it is, and fail where the page and the code differ.

. "$(dirname "$0")/../lib.sh"

check=$ROOT/tests/style/check-stages
expect_exit 0 "$check"
assert_empty "$TMP/stdout" "complaints about the tree"

copy=$TMP/tree
page=$copy/docs/architecture/pipeline.md
# renew: an unchanged copy of the parts that it reads
renew() {
	rm -rf "$copy"
	mkdir -p "$copy/docs/architecture" "$copy/capture"
	cp -r "$ROOT/capture/stages" "$ROOT/capture/recorder" "$ROOT/capture/providers" "$copy/capture"
	cp "$ROOT/docs/architecture/pipeline.md" "$page"
}

# catches TEXT: the copy is wrong, with TEXT in the complaint
catches() {
	expect_exit 1 "$check" "$copy"
	assert_says "$TMP/stdout" "$1" "complaint"
	renew
}

renew
expect_exit 0 "$check" "$copy"
sed -i '/^| named stacks |/d' "$page"
catches '> named stacks'
sed -i 's/^| calls |/| cells |/' "$page"
catches '< cells'
sed -i '/{ &marks_stage/{h;d};/{ &timelines_stage/G' "$copy/capture/recorder/recorder-stages.c"
catches 'its table differs from the stages'
sed -i '/{ &marks_stage/d' "$copy/capture/recorder/recorder-stages.c"
catches 'lists 15 stages, and there are 16'
cat >>"$copy/capture/stages/marks.c" <<-'END'
	const struct stage other_stage = {
		.name = "other",
	};
END
catches 'capture/stages/marks.c: has 2 tables of operations'

rm "$copy"/capture/recorder/recorder-stages.c
expect_exit 2 "$check" "$copy"
