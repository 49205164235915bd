#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check-licenses finds the errors that it describes.

. "$(dirname "$0")/../lib.sh"
check=$(dirname "$0")/check-licenses

# new_tree: a tree without errors
new_tree() {
	rm -rf "$TMP/tree"
	mkdir -p "$TMP"/tree/{base,bpf,cli,python}
	echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */' >"$TMP/tree/base/a.h"
	echo '/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */' >"$TMP/tree/base/b.h"
	cp "$TMP/tree/base/b.h" "$TMP/tree/bpf/c.h"
	echo '/* SPDX-License-Identifier: GPL-2.0-or-later */' >"$TMP/tree/cli/d.h"
}

# refuses FILE LINE...: the tree with these lines in FILE is wrong
refuses() {
	local file=$1

	shift
	new_tree
	printf '%s\n' "$@" >"$TMP/tree/$file"
	expect_exit 1 "$check" "$TMP/tree"
	assert_contains "$TMP/stdout" "^$file: " "the error in '$*'"
}

new_tree
expect_exit 0 "$check" "$TMP/tree"
refuses base/x.c 'int x;'
refuses base/x.c '/* SPDX-License-Identifier: GPL-2.0-or-later */'
refuses cli/x.c '/* SPDX-License-Identifier: LGPL-2.1-or-later */'
refuses bpf/x.c '/* SPDX-License-Identifier: LGPL-2.1-or-later */'
refuses python/x.py '# SPDX-License-Identifier: GPL-2.0-or-later'
refuses base/x.c '/* SPDX-License-Identifier: LGPL-2.1-or-later */' '#include "cli/d.h"'
