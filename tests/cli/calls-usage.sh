# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
run() {
	echo "\$ kymo $*"
	"$KYMO" "$@" || echo "exit status $?"
}
exec 2>&1
run calls
run calls a.fxt b.fxt
run calls missing.fxt
run calls --min soon a.fxt
run calls "$G/empty-session.fxt" | sed 's|/.*/||'
run calls --call
run calls --call x
run calls --call 'libc.so.6:fopen(string path)'
run calls --call 'libc.so.6:fopen(str path' --direct
run calls --call 'nowhere.so:f()'
run calls --call 'libc.so.6:fopen' -o x.fxt
run calls --call 'libc.so.6:fopen' file
run record -e calls -o x.fxt
run export --order=best -o x.trace a.fxt
run export --frame=often -o x.trace a.fxt
run export -o x.trace "$G/empty-session.fxt" | sed 's|/.*/||'
