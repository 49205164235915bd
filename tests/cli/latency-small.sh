# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
kymo latency "$T/small"
echo "exit $?"
for by in thread process cpu unit cgroup name; do
	kymo latency --by $by -n 2 --metric ready,softirq,call "$G/events.fxt" 2>/dev/null | sed -n '/^ready/,$p'
	echo "exit ${PIPESTATUS[0]}"
done
kymo latency --metric run --from 0.5 --to 1h "$T/small"
echo "exit $?"
kymo latency --json --by thread -n 1 --metric run,irq "$T/small"
# Selected threads.
kymo latency "$T/small" 100
kymo latency --by thread --metric run "$T/small" 'w*' ls
kymo latency --json "$T/small" worker ls | gojq -c '.balance, (.metrics | map_values(.count))'
kymo latency --from 1h "$T/small" ls
kymo latency "$T/small" ls wroker
echo "exit $?"
# What was not recorded, and how to record it.
kymo latency --metric irq,work,call "$T/small"
echo "exit $?"
kymo latency "$G/profile.fxt"
echo "exit $?"
kymo latency "$G/empty-session.fxt"
echo "exit $?"
kymo latency --metric blocked,irq "$G/empty-session.fxt"
echo "exit $?"
kymo latency "$T/lost"
echo "exit $?"
kymo latency - <"$T/damaged" >/dev/null
echo "exit $?"
# Nothing to show, in a window and without one; the losses are reported anyway.
kymo latency --from 800us --to 801us "$T/small"
echo "exit $?"
kymo latency --metric irq "$T/lost"
echo "exit $?"
kymo latency
kymo latency --by total a
kymo latency --metric run,size a
kymo latency --top -1 a
kymo latency --from 2 --to 1 a
echo "exit $?"
