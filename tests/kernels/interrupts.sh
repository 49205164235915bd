#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Activities of CPUs other than running threads, one recording per category: irq, softirq,
# workqueue, power, counters.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/words.sh"
need_btf
cpu=$(last_cpu)
items=50

# activity CATEGORY NAME: prints the count of an activity in the last summary
activity() {
	json "$SUMMARY" "[.activity.$1[]? | select(\"$2\" == \"\" or .name == \"$2\") | .count] | add // 0"
}

# Reading files from memory or from another machine causes no block I/O. Writing to those without a
# cache causes interrupts, too.
capture irq bash -c '"$0" blocks "$1" 20 2>/dev/null ||
	dd if=/dev/zero of="$2" bs=4k count=20 oflag=sync status=none' \
	"$KYMO_LOAD" "$TMP/blocks" "${KYMO_FACTS:-$TMP/irq}.blocks"
rm -f "${KYMO_FACTS:-$TMP/irq}.blocks"
note "interrupts: $(json "$SUMMARY" '[.activity.irq[]? | "\(.name) \(.count)"] | join(", ")')"
fact_at_least irq "$(activity irq "")" 1 "at least"

capture softirq "$KYMO_LOAD" --cpu "$cpu" loopback "$ROUNDS"
fact_at_least softirq "$(activity softirq NET_RX)" "$ROUNDS" NET_RX

capture workqueue "$KYMO_LOAD" refresh $items
function=$(json "$TMP/truth.json" .function)
fact_at_least workqueue "$(activity workqueue "$function")" $items "items of the function, by name"

capture power sleep 0.3
note "idle states: $(json "$SUMMARY" '[.activity.idle[]? | "\(.name) \(.count)"] | join(", ")')"
fact "power: $(json "$SUMMARY" .complete)"

# shellcheck disable=SC2034 # of capture
record_options=(--counter-interval 100ms)
capture counters sleep 0.5
json "$SUMMARY" '.counters[] | "counter \(.name) \(.value)"' | sort >"$TMP/counters"
grep -E '^counter (load|memory) ' "$TMP/counters" | facts
note "other counters: $({ grep -vE '^counter (load|memory) ' "$TMP/counters" || true; } | paste -sd,)"
