/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds at a moment because something before it said it: the last word on each thing, and
 * nothing of what has ended. Here are the rules: which events say something that holds, what tells
 * one thing from another, what ends it, and what a child has from its parent.
 *
 * Each owner keeps what was said in a form of its own: the recorder keeps events, for the heads of
 * chunks (fxt_holds_event()); a cut keeps records of any archive (edit/edit-state.h).
 *
 * Memory is bounded: of what is more than 128 MiB, nothing is kept, and it is counted.
 */
#pragma once

#include "base/cleanup.h"
#include "writer/fxt/fxt-event-fields.h"

enum fxt_holds_kind {
	FXT_HOLDS_NOTHING,
	FXT_HOLDS_OBJECT,
	/* A child has what its parent has, until exec: */
	FXT_HOLDS_MODULE,
	FXT_HOLDS_MMAP,
	FXT_HOLDS_MAPPING,
	FXT_HOLDS_COUNTER,
	FXT_HOLDS_FRAME,
	FXT_HOLDS_SAMPLING,
	/* Of what programs allocate, as long as they are watched: */
	FXT_HOLDS_WATCH,
	FXT_HOLDS_STACK,       /* the event */
	FXT_HOLDS_STACK_TRACE, /* and its frames */
	FXT_HOLDS_USAGE,
	FXT_HOLDS_ALLOC, /* that lives */
	FXT_HOLDS_CONTEXT,
	FXT_HOLDS_SHED,
};

/* What tells things apart. Without holes: its bytes are hashed. */
struct fxt_holds_key {
	uint64_t kind, from; /* FROM: whoever said it */
	uint64_t a, b, c;
};

struct fxt_held {
	void *what;                      /* of the owner's; see struct fxt_holds_ops */
	struct fxt_held *before, *after; /* in the order in which it was said */
	struct fxt_held *newer, *older;  /* of the same pid */
	struct fxt_holds_key key;
	uint64_t pid; /* whose end is its end; 0 = nobody's */
	size_t bytes;
	bool inherited; /* it was said of an ancestor */
	bool ended;     /* of the owner's */
};

struct fxt_holds_ops {
	/* What is kept of WHAT, and how many bytes that takes; NULL without memory. */
	void *(*keep)(void *what, size_t *bytes);
	void (*let_go)(void *kept);
};

struct fxt_holds;

/* Of the kinds WITHOUT (a bit each) nothing is kept. OPS is borrowed. Returns 0 or -ENOMEM. */
int fxt_holds_new(struct fxt_holds **ret, const struct fxt_holds_ops *ops, uint32_t without);
struct fxt_holds *fxt_holds_free(struct fxt_holds *h);
DEFINE_CLEANUP(struct fxt_holds *, fxt_holds_free)

/* What KEY says is WHAT from now on, until PID ends. Returns as fxt_holds_take(). */
int fxt_holds_keep(struct fxt_holds *h, const struct fxt_holds_key *key, uint64_t pid, void *what);

/* What KEY says, or NULL. */
struct fxt_held *fxt_holds_find(const struct fxt_holds *h, const struct fxt_holds_key *key);
void fxt_holds_forget(struct fxt_holds *h, struct fxt_held *held);

/* What was said behind HELD (NULL: first of all), or NULL. */
struct fxt_held *fxt_holds_next(const struct fxt_holds *h, const struct fxt_held *held);

/* How many things there was no room for so far. */
uint64_t fxt_holds_left_out(const struct fxt_holds *h);

/* An event of ROW, in whatever form: NUMBER is an argument of it as a number (of a text one that
 * tells it apart; 0 without it). */
struct fxt_holds_said {
	enum fxt_row_id row;
	uint64_t from, pid; /* the process that it is about */
	uint64_t (*number)(const void *event, int name);
	const void *event;
};

/* Takes SAID in, of which WHAT is kept. Returns 1 if it holds, 0 if not, or -ENOMEM. */
int fxt_holds_take(struct fxt_holds *h, const struct fxt_holds_said *said, void *what);

/*
 * Takes EV in (fxt-holds-event.c). Of fxt_holds_events each thing that is held is a struct event.
 * Returns 0 or -ENOMEM.
 */
int fxt_holds_event(struct fxt_holds *h, const struct event *ev);
extern const struct fxt_holds_ops fxt_holds_events;
