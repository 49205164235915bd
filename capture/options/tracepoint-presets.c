/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/tracepoint-presets.h"

#include <string.h>

const struct tracepoint_preset tracepoint_presets[] = {
	{ "signals",
	  "signals that are sent (signal_generate) and taken (signal_deliver)",
	  "0.5 microseconds and 100 bytes per event, two events per signal",
	  { "signal:signal_generate", "signal:signal_deliver" } },
	{ "reclaim",
	  "memory shortage: direct reclaim, compaction, OOM kills",
	  "0.5 microseconds and 100 bytes per event, two events per reclaim or compaction",
	  { "vmscan:mm_vmscan_direct_reclaim_begin", "vmscan:mm_vmscan_direct_reclaim_end",
	    "vmscan:mm_vmscan_memcg_reclaim_begin", "vmscan:mm_vmscan_memcg_reclaim_end",
	    "compaction:mm_compaction_begin", "compaction:mm_compaction_end", "oom:mark_victim" } },
	/* (tcp:tcp_probe has an event for each received packet, so kymo:tcp_rtt takes its place) */
	{ "net",
	  "states and round trip times of TCP, retransmissions, resets, packets that are dropped",
	  "0.5 microseconds and 150 bytes per event, 0.1 microseconds per received packet",
	  { "sock:inet_sock_set_state", "tcp:tcp_retransmit_skb", "tcp:tcp_send_reset",
	    "tcp:tcp_receive_reset", "skb:kfree_skb", "kymo:tcp_rtt" } },
	{ "faults",
	  "page faults, major and minor, with address, instruction and file",
	  "0.5 microseconds and 150 bytes per page fault",
	  { "kymo:page_fault" } },
	{ 0 },
};

const struct tracepoint_preset *tracepoint_preset_find(const char *text, size_t n)
{
	const struct tracepoint_preset *p = tracepoint_presets;

	while (p->name && (strlen(p->name) != n || memcmp(p->name, text, n) != 0))
		p++;
	return p->name ? p : NULL;
}
