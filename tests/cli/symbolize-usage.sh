# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Refused command lines of symbolize, and the options of all verbs that look up names. No file is
# made.
try() {
	kymo "$@"
	echo "exit $?: $*"
}
touch file
cp "$G/profile-bare.fxt" a.fxt
try symbolize
try symbolize a.fxt
try symbolize a.fxt b c
try symbolize --no-symbols a.fxt b
try symbolize --debug-dir missing a.fxt b
try symbolize --debug-dir file a.fxt b
try symbolize --sysroot missing a.fxt b
try symbolize missing b
try symbolize file b
try symbolize a.fxt a.fxt --force
try symbolize a.fxt missing/b
try flame a.fxt -o b.svg --debug-dir missing
try flame a.fxt -o b.svg --sysroot file
try summary a.fxt --sysroot missing
try summary a.fxt --debug-dir
cmp a.fxt "$G/profile-bare.fxt"
ls
