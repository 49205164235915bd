#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of texts must pass the tree as it is, and fail on each kind of error.

. "$(dirname "$0")/../lib.sh"
need_command codespell

check=$ROOT/tests/style/check-text
copy=$TMP/tree
mkdir "$copy"
# (a part of it: all of it is checked by the test `text`)
(cd "$ROOT" && tar cf - docs/kymo.conf.5 docs/architecture/[fo]*.md README.md units base bus capture/heap capture/unwind) |
	tar xf - -C "$copy"

expect_exit 0 "$check" "$copy"
assert_empty "$TMP/stdout" "complaints about the tree"

# plant FILE COMPLAINT LINE ...: FILE with the lines must be complained about once.
plant() {
	local file=$copy/$1 complaint=$2

	shift 2
	printf '%s\n' "$@" >"$file"
	expect_exit 1 "$check" "$copy"
	assert_says "$TMP/stdout" "$complaint" "complaint about $complaint"
	assert_eq "$(wc -l <"$TMP/stdout")" 1 "number of complaints about $complaint"
	rm "$file"
}

long=$(printf 'word %.0s' {1..20})
plant docs/planted.md 'docs/planted.md:2: 101 columns' '# Planted' "${long}x"
plant docs/architecture/planted.md 'planted.md:1: 102 columns' "- ${long}"
plant base/planted.h 'base/planted.h:2: 102 columns' '/*' " *$long"
plant base/planted.h 'base/planted.h:1: 113 columns' $'\t'"/* ${long% *} */"
plant base/planted.c 'base/planted.c:2: 102 columns' '/*' " *$long" ' */'
plant units/planted.xml 'units/planted.xml:1: 101 columns' "${long}>"
plant docs/planted.md 'recieve ==> receive' 'They recieve it.' # codespell:ignore
plant base/planted.c 'recieve ==> receive' '/* They recieve it. */'
plant docs/kymo.8 'recieve ==> receive' 'They recieve it.'
plant bus/planted.c "bus/planted.c:1: name the subject instead of 'Whoever'" '/* Whoever calls it. */'
plant bus/planted.c "bus/planted.c:2: name the subject instead of 'What '" '/*' ' * It is used. What is left goes.' ' */'
plant capture/unwind/planted.c "capture/unwind/planted.c:1: name the subject instead of 'whom'" '/* whom */'
plant bus/planted.h "bus/planted.h:1: name the subject instead of 'of who'" 'int n; /* of who asks */'
plant capture/heap/planted.c "planted.c:1: name the subject instead of 'somebody'" '/* of somebody */'

# Tables and code are not text, and a sentence can be a question.
printf 'static const char *planted = "Whoever calls it";\n/* What is it? */\n' >"$copy/bus/planted.c"
expect_exit 0 "$check" "$copy"
printf '| %s |\n' "$long" >"$copy/docs/planted.md"
printf 'static const char *planted = "%s";\n' "$long" | tee "$copy/base/planted.h" >"$copy/base/planted.c"
expect_exit 0 "$check" "$copy"

# Without texts the checker checks nothing, and must say so.
rm -r "${copy:?}"/*
expect_exit 2 "$check" "$copy"
