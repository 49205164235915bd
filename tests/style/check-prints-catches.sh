#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/style/check-prints finds each kind of error.

. "$(dirname "$0")/../lib.sh"
check=$(dirname "$0")/check-prints

# tree LINE...: a tree whose only file has these lines
tree() {
	rm -rf "$TMP/tree"
	mkdir -p "$TMP/tree/cli/query"
	printf '%s\n' "$@" >"$TMP/tree/cli/query/x.c"
}

# refuses LINE...: it is wrong
refuses() {
	tree "$@"
	expect_exit 1 "$check" "$TMP/tree"
	assert_contains "$TMP/stdout" '^cli/query/x[.]c:1: ' "what is wrong with '$*'"
}

"$check"
refuses '	printf("%s", d->names[i]);'
refuses '	fputs(r->name.bytes, stdout);'
refuses '	fwrite(t.text.bytes, 1, n, stdout);'
refuses '	printf(" \"%.*s\"", (int)v->size,' '	       (const char *)v->bytes);'
tree '	text_clean(to, room, t->text.bytes, n);' '	printf("%s, %lu", to, sums->bytes);'
expect_exit 0 "$check" "$TMP/tree"
