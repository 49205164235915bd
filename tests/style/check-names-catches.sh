#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checker of names must pass the tree as it is, and fail where two static functions have one
# name.

. "$(dirname "$0")/../lib.sh"

check=$ROOT/tests/style/check-names
copy=$TMP/tree
mkdir "$copy"
(cd "$ROOT" && tar cf - base bench bpf bus capture cli daemon edit model reader writer) | tar xf - -C "$copy"

expect_exit 0 "$check" "$copy"
assert_empty "$TMP/stdout" "complaints about the tree"

# plant LINE ...: the same function, written in the given ways, in two files must be complained
# about once.
plant() {
	printf '%s\n' "$@" >"$copy/base/planted.c"
	printf 'static void planted_run(void)\n{\n}\n' >"$copy/cli/common/planted-too.c"
	expect_exit 1 "$check" "$copy"
	assert_contains "$TMP/stdout" 'planted.*the name planted_run[(][)] is that of' "complaint about $1"
	assert_eq "$(wc -l <"$TMP/stdout")" 1 "number of complaints about $1"
}

plant 'static int planted_run(int a)' '{' '}'
plant 'static const char *planted_run(int a,' '			       int b)' '{' '}'
plant 'static inline bool planted_run(void)' '{' '}'
plant 'static const struct a_name_that_is_long_enough_to_fill_a_line_all_by_itself *' 'planted_run(void)' '{' '}'
plant 'static __always_inline void planted_run(void)' '{' '}'
plant 'static __attribute__((format(printf, 1, 2))) void planted_run(const char *format, ...)' '{' '}'

# A name that does not tell its file must be complained about; one that begins with some of its words
# is good.
printf 'static void %s(void)\n{\n}\n' planted_tree_grow trees_grow tree_water planted_more >"$copy/base/planted-trees.c"
rm -f "$copy"/{base/planted,cli/common/planted-too}.c
expect_exit 0 "$check" "$copy"
printf 'static void %s(void)\n{\n}\n' grow_tree >"$copy/base/planted-trees.c"
expect_exit 1 "$check" "$copy"
assert_says "$TMP/stdout" 'the name grow_tree() does not begin with that of its file, as planted_trees_grow_tree() does' "complaint"
rm "$copy/base/planted-trees.c"

# A declaration, a call, a variable and a name in a comment are none.
cat >"$copy/base/planted.c" <<-'END'
	static void planted_run(void);
	static void (*planted_run)(void) = NULL;
	static int planted_run = 1;
	/* static void planted_run(void) */
	int planted(void)
	{
		return planted_run();
	}
END
expect_exit 0 "$check" "$copy"

# Without code the checker checks nothing, and must say so.
rm -r "${copy:?}"/*/*
expect_exit 2 "$check" "$copy"
