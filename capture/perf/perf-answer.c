/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/perf/perf-answer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/perf/perf-protocol.h"

/*
 * Returns true if the request is for a probe, and has only attributes that probes need. Other
 * attributes are refused, such as a counter that the kernel would write into the process.
 */
static bool perf_is_probe(const struct perf_question *q)
{
	const struct perf_event_attr *attr = &q->attr;
	int type = perf_protocol_number(UPROBES "type");
	int bit = perf_protocol_number(UPROBES "format/retprobe");
	struct perf_event_attr ours = {
		.type = (uint32_t)type,
		.size = sizeof(ours),
		.probe_offset = attr->probe_offset,
	};

	if (type < 0 || bit < 0 || bit > 31)
		return false;
	if (q->pid == -1 ? q->cpu != 0 : q->pid <= 0 || q->cpu != -1)
		return false;
	ours.config = attr->config & UINT64_C(1) << bit;
	return memcmp(attr, &ours, sizeof(ours)) == 0;
}

/*
 * Returns true if ATTR is a tracepoint without samples. By itself, such an event only counts. The
 * eBPF program that kymo attaches to it needs other privileges.
 */
static bool perf_is_bare_tracepoint(const struct perf_event_attr *attr)
{
	const struct perf_event_attr ours = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(ours),
		.config = attr->config,
	};

	return memcmp(attr, &ours, sizeof(ours)) == 0;
}

/*
 * Returns true if ATTR is an event of page faults whose samples have no data. (eBPF programs do not
 * need this data.)
 */
static bool perf_is_bare_fault(const struct perf_event_attr *attr)
{
	const struct perf_event_attr ours = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(ours),
		.config = attr->config,
		.sample_period = 1,
		.disabled = 1,
	};

	return (attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ) &&
	       memcmp(attr, &ours, sizeof(ours)) == 0;
}

/*
 * Returns true if kymo needs the event. No other events are permitted: no kernel probes, no
 * addresses in the client; and only a probe may be limited to one process.
 */
static bool perf_answer_is_ours(const struct perf_question *q, int file)
{
	const struct perf_event_attr *attr = &q->attr;

	if (attr->size != sizeof(*attr))
		return false;
	if (file >= 0)
		return perf_is_probe(q);
	if (q->pid != -1 || q->cpu < 0)
		return false;
	if (attr->type == PERF_TYPE_TRACEPOINT)
		return perf_is_bare_tracepoint(attr);
	if (attr->type == PERF_TYPE_HARDWARE)
		return attr->config == PERF_COUNT_HW_CPU_CYCLES;
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_DUMMY ||
		perf_is_bare_fault(attr));
}

int perf_event_answer(int sock)
{
	_cleanup_close_ int file = -1, event = -1;
	struct perf_question q;
	int32_t answer = 0;
	int r = perf_protocol_be_impatient(sock)
			?: perf_protocol_receive(sock, &q, sizeof(q), &file);

	if (r < 0)
		return r;
	event = perf_answer_is_ours(&q, file) ? perf_protocol_open(&q, file) : -EINVAL;
	if (event < 0)
		answer = event;
	return perf_protocol_send(sock, &answer, sizeof(answer), event);
}
