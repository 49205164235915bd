# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Outputs of edits, and their state after failures.
echo precious >there
cp "$T/small" in
ln in link
try() {
	kymo "$@" 2>&1 | sed -E 's/: [0-9.]+ [KM]?i?B(, |$)/: /'
	echo "exit ${PIPESTATUS[0]}: $*"
}
good() {
	kymo check "$1" >checked && echo "$1 is good"
	rm checked
}
try repair in there
cat there
try repair --force in there
good there
try repair --force in in
try redact --force in link
try merge --force in in in
cmp in "$T/small" && echo "unchanged"
try repair absent out
try repair in absent/out
try repair in .
try cut --from 1h in out
try cut --from 1h --force in there
good there
# (nothing was recorded between two parts of a recording)
kymo cut --to 300us in first 2>/dev/null
kymo cut --from 600us in second 2>/dev/null
kymo merge first second both 2>/dev/null
try cut --from 400us --to 500us both out
rm first second both
try merge in "$T/empty" out
try redact --key absent in out
head -c 15 "$T/small" >short
try redact --key short in out
ls
kymo cut --to 500us - - <in 2>/dev/null >piped
good piped
kymo repair --json in - 2>/dev/null >piped
good piped
kymo cut --to 500us in - 2>/dev/null | kymo repair - - 2>/dev/null | kymo summary -n 1 -
