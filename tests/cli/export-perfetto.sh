# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
cp "$T/small" a.fxt
kymo export a.fxt -o a.pftrace
kymo export --json --format perfetto a.fxt -o a.out
cmp a.pftrace a.out
kymo export --format perfetto - -o - <a.fxt 2>/dev/null | cmp - a.pftrace
kymo export a.fxt -o a.pftrace.gz 2>/dev/null && zcat a.pftrace.gz | cmp - a.pftrace
od -An -c a.pftrace
# Every kind of event, some on CPUs that Perfetto does not have
kymo export "$G/events.fxt" -o b.pftrace
echo "exit $?"
# A damaged archive: what is readable
printf '\377%.0s' {1..64} | dd of=a.fxt bs=1 seek=600 conv=notrunc 2>/dev/null
kymo export a.fxt -o b.pftrace --force >/dev/null 2>&1
echo "exit $?"
echo "not a trace" >b.fxt
kymo export b.fxt -o c.pftrace
echo "exit $?"
ls
