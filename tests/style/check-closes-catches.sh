#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/style/check-closes finds each kind of error.

. "$(dirname "$0")/../lib.sh"
check=$(dirname "$0")/check-closes

# refuses FILE LINE: a tree with that line is wrong
refuses() {
	rm -rf "$TMP/tree"
	mkdir -p "$TMP"/tree/{base,bus,daemon,capture/store}
	touch "$TMP/tree/capture/store/store-fd.c"
	printf '%s\n' "$2" >"$TMP/tree/$1"
	expect_exit 1 "$check" "$TMP/tree"
	assert_contains "$TMP/stdout" "^$1:1: " "what is wrong with '$2'"
}

"$check"
refuses daemon/x.c 'int close(int fd)'
refuses base/x.h '#define close(fd) async_close(fd)'
refuses daemon/x.c '	close_fd(r->output_fd);'
refuses capture/x.c '		close(o->memory.allocator_fds[i]);'
refuses daemon/x.c '	_cleanup_close_ int own_fd = fd;'
refuses capture/store/store-fd.c '	close_fd(s->fd);'
refuses base/x.c 'ssize_t recvmsg(int fd, struct msghdr *m, int flags)'
