# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names that are none, links to nothing, directories, pipes and what may not grow: said, and nothing
# stays.
cp "$T/profile" in
mkdir directory
ln -s nowhere link
mkfifo pipe
try() {
	kymo "$@" 2>&1
	echo "exit $?: $*"
}
for out in '' link directory directory/ pipe /dev/full; do
	try repair in "$out"
	try repair --force in "$out"
	try export --force --format fxt in -o "$out"
	try flame --force --format folded in -o "$out"
done
for verb in dump check summary open 'diff in'; do
	# shellcheck disable=SC2086
	try $verb ''
	# shellcheck disable=SC2086
	try $verb directory
done
# No verb waits for a writer.
try open pipe
# A block is 1024 bytes.
small() {
	(
		ulimit -f 1
		kymo "$@" 2>&1
	) | cat
	echo "exit ${PIPESTATUS[0]}: $*"
}
small export in -o out.fxt
small repair in out.fxt
small flame --no-symbols in -o out.svg
ls
