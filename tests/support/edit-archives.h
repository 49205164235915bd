/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Archives to be edited, made record by record, and what an edited one says, in words.
 */
#pragma once

#include "base/outbuf.h"
#include "edit/edit-cut.h"
#include "edit/edit-merge.h"
#include "edit/edit-redact.h"
#include "edit/edit-repair.h"
#include "writer/fxt/fxt-writer.h"

/* Fails the test if CALL is not 0. */
#define OK(call) assert_int_equal(call, 0)

/* An archive that is being made: of kymo, and of a program "app". */
struct source {
	struct outbuf bytes;
	struct fxt_writer w;
	struct fxt_out_provider kymo, app;
};

/* Begins with the head of kymo's archive. */
void source_init(struct source *s);
void source_deinit(struct source *s);

/* From now on records are those of the program, introduced with the first call; or kymo's again. */
void as_app(struct source *s);
void as_kymo(struct source *s);

void put_process(struct source *s, uint64_t pid, const char *name, uint64_t parent);
void put_thread(struct source *s, uint64_t pid, uint64_t tid, const char *name);

/* Each a process of one thread. */
void put_task(struct source *s, uint64_t pid, const char *name, uint64_t parent);

/* The same, with a start time. */
void put_task_since(struct source *s, uint64_t pid, const char *name, uint64_t start_ns);

/* A switch with weights as the kernel's threads have them, idle for tid 0. */
void put_switch(struct source *s, uint64_t ts, uint32_t cpu, uint64_t out, uint64_t in,
		enum fxt_thread_state state);
void put_wakeup(struct source *s, uint64_t ts, uint32_t cpu, uint64_t tid);

/* ID: of counters, asynchronous ones and flows; the end of complete ones. */
void put_event(struct source *s, enum fxt_event_type type, uint64_t ts, uint64_t tid,
	       const char *category, const char *name, uint64_t id);
void put_event_args(struct source *s, uint64_t ts, uint64_t tid, const char *category,
		    const char *name, const struct fxt_out_arg *args, unsigned n_args);

/* kymo's session_start and clock; session_stop. */
void put_start(struct source *s, uint64_t ts, const char *host, uint32_t n_cpus, uint64_t wall_ns);
void put_stop(struct source *s, uint64_t ts);

/* N words as they are. */
void put_words(struct source *s, const uint64_t *words, size_t n);

/*
 * These run what their name says over archives; the result is a new string, as edited_text() has
 * it.
 */
char *repair_text(const struct outbuf *archive, struct edit_repair_counts *ret_counts);
char *cut_text(const struct outbuf *archive, const struct edit_cut_options *options);
char *merge_text(const struct outbuf *const *archives, unsigned n,
		 struct edit_merge_view *ret_views);
void redact_bytes(const struct outbuf *archive, const struct edit_redact_options *options,
		  struct edit_output *ret);

/*
 * A line a record, without those of tables, sections and heads; each begins with its provider's
 * name. All that a record says is in its line. Weights are left out where they are 120, or idle's
 * for 0:
 *
 *	kymo: 110 cpu0 5>6 running			a switch; synthetic: "*"
 *	kymo: 120 wake 5 @0
 *	app: 130 begin cat/name 10/10 key:uint32=5
 *	app: 130 complete cat/name 10/10 ..150
 *
 * Two providers of one name, damage, and what breaks a rule, is a line, too. A new string.
 */
char *edited_text(const struct outbuf *archive);

/* Fails the test if LINE is not a line of TEXT. */
void assert_line(const char *text, const char *line);
void assert_no_line(const char *text, const char *line);

/* How many lines of TEXT hold PART. */
unsigned count_lines(const char *text, const char *part);
