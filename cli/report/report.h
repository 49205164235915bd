/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a recording that `kymo report` writes: its data, and its sections.
 *
 * The page is one file that needs no other: HTML that is also well-formed XML, with one style and
 * one script, which only adds search and zoom. Everything in it has a bounded size (the limits of
 * each section, and REPORT_FLAME_BYTES), so that it can be sent by mail, however long the recording
 * is. A section that leaves something out says so, and an empty section says why it is empty.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/common/nothing-there.h"
#include "cli/common/resolver.h"
#include "reader/views/call-sums.h"
#include "reader/views/cpu-timeline.h"
#include "reader/views/latencies.h"
#include "reader/views/leaks.h"
#include "reader/views/profile-names.h"
#include "reader/why/why.h"

/* The largest size of the frames of one flame graph. */
enum { REPORT_FLAME_BYTES = 512 << 10 };

struct report {
	const char *name;  /* of the archive, without its directory; borrowed */
	const char *title; /* of the page; borrowed */
	struct summary *summary;
	struct profile *profile;
	struct why *why;
	bool has_why; /* the archive has scheduling records */
	struct latencies *latencies;
	struct cpu_timeline *timeline;
	struct leaks *leaks;
	struct call_sums calls;
	struct resolver resolver;
	struct profile_names names;
	const struct nothing_there *parts; /* borrowed */
	uint64_t n_damages;                /* unreadable places of the archive */
	int64_t real_offset_ns;            /* CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = unknown */
};

/*
 * Opens the views of R. The resolver of R must be initialized, and R must not be moved until
 * report_deinit(). Returns 0 or -ENOMEM. Frees nothing on failure.
 */
int report_init(struct report *r);
void report_deinit(struct report *r);

/* Adds an event. Returns 0 or -ENOMEM. */
int report_add(struct report *r, const struct event *ev);

/* Must be called once, after the last event. Then the page can be written. Returns 0 or -ENOMEM. */
int report_finish(struct report *r);

/* Appends the whole page. Returns 0 or a negative errno. */
int report_page(const struct report *r, struct outbuf *out);

/* Append one section, without its heading. Return 0 or a negative errno. */
int report_losses(const struct report *r, struct outbuf *out);
int report_machine(const struct report *r, struct outbuf *out);
int report_cpus(const struct report *r, struct outbuf *out);
int report_processes(const struct report *r, struct outbuf *out);
int report_waits(const struct report *r, struct outbuf *out);
int report_on_cpu(const struct report *r, struct outbuf *out);
int report_off_cpu(const struct report *r, struct outbuf *out);
int report_latencies(const struct report *r, struct outbuf *out);
int report_calls(const struct report *r, struct outbuf *out);
int report_leaks(const struct report *r, struct outbuf *out);

/* Returns true if report_losses() has anything to say. */
bool report_has_losses(const struct report *r);
