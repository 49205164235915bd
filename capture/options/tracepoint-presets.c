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
	/* (tcp_probe is left out: it has an event for each received packet) */
	{ "net",
	  "states of TCP connections, retransmissions, resets, dropped packets with reason",
	  "0.5 microseconds and 150 bytes per event; none per sent or received packet",
	  { "sock:inet_sock_set_state", "tcp:tcp_retransmit_skb", "tcp:tcp_send_reset",
	    "tcp:tcp_receive_reset", "skb:kfree_skb" } },
	{ "faults",
	  "page faults of programs, with address and instruction (x86)",
	  "0.5 microseconds and 90 bytes per page fault",
	  { "exceptions:page_fault_user", "exceptions:page_fault_kernel" } },
	{ 0 },
};

const struct tracepoint_preset *tracepoint_preset_find(const char *text, size_t n)
{
	const struct tracepoint_preset *p = tracepoint_presets;

	while (p->name && (strlen(p->name) != n || memcmp(p->name, text, n) != 0))
		p++;
	return p->name ? p : NULL;
}
