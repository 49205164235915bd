/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State at a point in time, as established by earlier events: the last event for each item, without
 * ended items. The rules are here: the events that establish state, the key that identifies an
 * item, the events that end it, and the items that a child inherits.
 *
 * Each owner keeps the state in its own form: the recorder keeps events, for the heads of chunks
 * (fxt_holds_event()); a cut keeps records of any archive (edit/edit-state.h).
 *
 * Memory is bounded: state beyond 128 MiB is not kept, and is counted.
 */
#pragma once

#include "base/cleanup.h"
#include "writer/fxt/fxt-event-fields.h"

enum fxt_holds_kind {
	FXT_HOLDS_NOTHING,
	FXT_HOLDS_OBJECT,
	/* State that a child inherits from its parent, until exec: */
	FXT_HOLDS_MODULE,
	FXT_HOLDS_MMAP,
	FXT_HOLDS_MAPPING,
	FXT_HOLDS_COUNTER,
	FXT_HOLDS_FRAME,
	FXT_HOLDS_OTHER_FILE, /* a child inherits it, too */
	FXT_HOLDS_SAMPLING,
	/* State of allocations, as long as their process is watched: */
	FXT_HOLDS_WATCH,
	FXT_HOLDS_STACK,       /* the event `stack` */
	FXT_HOLDS_STACK_TRACE, /* the frames of that stack */
	FXT_HOLDS_NAME, /* the function of a frame; without a watch, until its process ends */
	FXT_HOLDS_USAGE,
	FXT_HOLDS_ALLOC, /* a live allocation */
	FXT_HOLDS_CONTEXT,
	FXT_HOLDS_MOMENT_POINT,
	FXT_HOLDS_SHED,
};

/* The key of an item. It has no padding, since its bytes are hashed. */
struct fxt_holds_key {
	uint64_t kind, from; /* FROM is the writer of the event */
	uint64_t a, b, c;
};

struct fxt_held {
	void *what; /* owned by the user of the rules; see struct fxt_holds_ops */
	struct fxt_held *before, *after; /* neighbours in the order of the events */
	struct fxt_held *newer, *older;  /* neighbours among the items with the same pid */
	struct fxt_holds_key key;
	uint64_t pid; /* the item ends with this process; 0 = with no process */
	size_t bytes;
	bool inherited; /* the item comes from an ancestor of the process */
	/* For the user of the rules: */
	bool ended;
	uint32_t n_users;      /* number of items that use this one */
	struct fxt_held *uses; /* the item that this one uses */
};

struct fxt_holds_ops {
	/* Makes the form in which WHAT is kept. *BYTES is its size. Returns NULL without memory. */
	void *(*keep)(void *what, size_t *bytes);
	void (*let_go)(void *kept);
};

struct fxt_holds;

/* Kinds whose bit is set in WITHOUT are not kept. OPS is borrowed. Returns 0 or -ENOMEM. */
int fxt_holds_new(struct fxt_holds **ret, const struct fxt_holds_ops *ops, uint32_t without);
struct fxt_holds *fxt_holds_free(struct fxt_holds *h);
DEFINE_CLEANUP(struct fxt_holds *, fxt_holds_free)

/* Sets the value of KEY to WHAT, until PID ends. Returns like fxt_holds_process(). */
int fxt_holds_keep(struct fxt_holds *h, const struct fxt_holds_key *key, uint64_t pid, void *what);

/* Returns the value of KEY, or NULL. */
struct fxt_held *fxt_holds_find(const struct fxt_holds *h, const struct fxt_holds_key *key);
void fxt_holds_forget(struct fxt_holds *h, struct fxt_held *held);

/* Discards the items of KIND from the writer FROM that end with PID. */
void fxt_holds_forget_of(struct fxt_holds *h, uint64_t from, uint64_t pid,
			 enum fxt_holds_kind kind);

/*
 * Changes the key of HELD to KEY. No other item has KEY. The position of HELD among the items does
 * not change.
 */
void fxt_holds_rename(struct fxt_holds *h, struct fxt_held *held, const struct fxt_holds_key *key);

/* Returns the item after HELD (NULL = the first item), or NULL after the last one. */
struct fxt_held *fxt_holds_next(const struct fxt_holds *h, const struct fxt_held *held);

/* Returns the number of items so far that did not fit. */
uint64_t fxt_holds_left_out(const struct fxt_holds *h);

/*
 * An event of ROW, in any form. NUMBER is an argument as a number: text is represented by a number
 * that identifies it, and a missing argument is 0.
 */
struct fxt_holds_input {
	enum fxt_row_id row;
	uint64_t from, pid; /* writer and process of the event */
	uint64_t (*number)(const void *event, int name);
	const void *event;
};

/*
 * Processes an event: *INPUT describes it, and WHAT is its form to keep. Returns 1 if it
 * establishes state, 0 if not, or -ENOMEM.
 */
int fxt_holds_process(struct fxt_holds *h, const struct fxt_holds_input *input, void *what);

/*
 * Processes EV (fxt-holds-event.c). The value of each item is then a struct event. Returns 0 or
 * -ENOMEM.
 */
int fxt_holds_event(struct fxt_holds *h, const struct event *ev);

/*
 * Keeps EV, an EVENT_FRAME, for a stack that is kept. A name that is kept already stays where it
 * is: before the stacks that need it. Returns 0 or -ENOMEM.
 */
int fxt_holds_name(struct fxt_holds *h, const struct event *ev);
extern const struct fxt_holds_ops fxt_holds_events;
