/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/why/why-notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

struct why_notes_reader {
	why_note_fn note;
	void *userdata;
};

__attribute__((format(printf, 2, 3))) static void why_notes_add(const struct why_notes_reader *n,
								const char *format, ...)
{
	char text[4096 + 512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n->note(n->userdata, text);
}

/* Adds notes for pairs of tracepoints of which the recording has only one half. */
static void why_notes_add_reclaims(const struct why_notes_reader *n, const struct why *w)
{
	struct why_reclaims_half half;

	for (size_t i = 0; i < WHY_RECLAIMS_PAIRS; i++) {
		if (!why_reclaims_half(why_get_reclaims(w), i, &half))
			continue;
		if (half.certain)
			why_notes_add(n,
				      "the recording has only the %s of each %s, so its time is "
				      "unknown: record it with -e reclaim, without a condition",
				      half.begins ? "begin" : "end", half.what);
		else if (half.begins)
			why_notes_add(n,
				      "the recording has no end of a %s, so its time is unknown: "
				      "each one lasted until the recording ended, or ends were not "
				      "recorded (-e reclaim, without a condition, records them)",
				      half.what);
		else
			why_notes_add(n,
				      "the recording has no begin of a %s, so its time is unknown: "
				      "each one began before the recording, or begins were not "
				      "recorded (-e reclaim, without a condition, records them)",
				      half.what);
	}
}

void why_notes(const struct why *w, const char *name, why_note_fn note, void *userdata)
{
	const struct why_sources *s = &w->sources;
	const struct why_notes_reader n = { note, userdata };

	if (!s->waits)
		why_notes_add(
			&n, "%s does not show where threads waited: record it with -e sched,offcpu",
			name);
	else if (s->kernel_frames && !s->kernel_names)
		why_notes_add(
			&n,
			"the functions of the kernel have no names, so causes of waits are "
			"uncertain: run 'kymo symbolize' on the machine of the recording, as root");
	if (s->filtered)
		why_notes_add(
			&n,
			"%s contains only selected threads: record all threads (without -p) to "
			"see the others",
			name);
	if (s->no_wakeups)
		why_notes_add(&n,
			      "wakeups were not recorded all the time (--max-overhead): wakers are "
			      "unknown then");
	if (s->filled_wakeups)
		why_notes_add(&n,
			      "the scheduling records of %" PRIu64
			      " wakeup%s are missing: their times come from the records of offcpu",
			      s->filled_wakeups, text_s(s->filled_wakeups));
	why_notes_add_reclaims(&n, w);
	if (w->total.paused_ns)
		why_notes_add(
			&n,
			"the recording was paused for a part of this time, so %s of the time of "
			"threads is unknown",
			TEXT_TIME(w->total.paused_ns));
	if (w->forgotten_ns)
		why_notes_add(
			&n,
			"the recording has too many switches or interrupts: the answer leaves out "
			"its first %s; select a part (--from, --to)",
			TEXT_TIME(w->forgotten_ns));
	if (w->holders_cut)
		why_notes_add(
			&n,
			"the recording has too many switches: the threads that had the CPUs are "
			"not known all the time; select a part (--from, --to)");
	if (w->paths_ended)
		why_notes_add(
			&n,
			"the waits depend on too many others: the limit for all of them was "
			"reached, and the shorter ones are not explained; show fewer (--worst), "
			"or select a part (--from, --to)");
	else if (w->paths_cut)
		why_notes_add(
			&n,
			"a limit was reached: a part of the time of some waits is not explained");
	if (w->n_spans_dropped)
		why_notes_add(&n, "%" PRIu64 " %s were left out, since there are too many",
			      w->n_spans_dropped,
			      why_get_spans(w)->function ? "calls" : "intervals");
	if (why_get_spans(w)->n_left_out)
		why_notes_add(&n,
			      "the recording lacks %" PRIu64
			      " call%s of the function, because of its "
			      "limit (--call)",
			      why_get_spans(w)->n_left_out, text_s(why_get_spans(w)->n_left_out));
	if (w->n_waits_dropped)
		why_notes_add(&n,
			      "the stacks of %" PRIu64
			      " waits were left out, since there are too many",
			      w->n_waits_dropped);
}

bool why_notes_is_cut(const struct why *w)
{
	return w->forgotten_ns || w->n_waits_dropped || w->n_spans_dropped || w->holders_cut ||
	       w->paths_cut;
}
