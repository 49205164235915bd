/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/collector-parts.h"

#include <stdlib.h>
#include <unistd.h>

#include "capture/options/tracepoint-own.h"
#include "capture/programs/load-error.h"

int collector_configure_own(struct collector *c, const struct session_options *o)
{
	struct kymo_bpf *skel = c->skel;
	const char *const names[] = { "tcp_probe" };
	bool has[1], faults = false, rtt = false;
	int r = 0;

	if (o->categories & CATEGORY_TRACEPOINTS) {
		r = kernel_btf_tracepoints(c->btf, names, 1, has);
		faults = tracepoint_own_is_selected(o, TRACEPOINT_OWN_FAULT);
		rtt = r == 0 && has[0] && tracepoint_own_is_selected(o, TRACEPOINT_OWN_RTT);
	}
	skel->rodata->fault_page_shift = (uint32_t)__builtin_ctzl((unsigned long)getpagesize());
	bpf_program__set_autoload(skel->progs.on_page_fault, faults);
	bpf_program__set_autoload(skel->progs.on_tcp_rtt, rtt);
	return r ?: bpf_map__set_autocreate(skel->maps.fault_runs, faults)
			   ?: bpf_map__set_autocreate(skel->maps.fault_mappings, faults)
			   ?: bpf_map__set_autocreate(skel->maps.rtt_states, rtt);
}

int collector_attach_own(struct collector *c, unsigned own, uint32_t number, char **reterr_text)
{
	struct kymo_bpf *skel = c->skel;
	const struct attach_row rtt = { skel->progs.on_tcp_rtt, &skel->links.on_tcp_rtt };
	int r;

	skel->bss->tracepoint_own_numbers[own] = number;
	if (own == TRACEPOINT_OWN_RTT)
		return collector_attach_rows(&rtt, 1, reterr_text);
	load_error_begin();
	r = fault_events_new(bpf_program__fd(skel->progs.on_page_fault),
			     bpf_map__fd(skel->maps.fault_runs), c->n_cpus, &c->faults);
	return r < 0 ? load_error_perf(r, "record page faults (perf events)", reterr_text) : 0;
}
