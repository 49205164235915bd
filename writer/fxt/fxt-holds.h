/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state at a moment that earlier events have established: for each item (a mapping, a watch,
 * ...), the last event about it, unless the item has ended. This module has the rules: which events
 * establish and end items, which key identifies an item, and which items a child inherits.
 *
 * Each user of this module keeps the state in its own form: the recorder keeps events, for the
 * heads of chunks (fxt_holds_event()); a cut keeps records of any archive (edit/edit-state.h).
 *
 * Memory is bounded: items beyond 128 MiB are not kept, but counted.
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
	FXT_HOLDS_NAME,        /* the name of an address; without a watch, until the process ends */
	FXT_HOLDS_USAGE,
	FXT_HOLDS_ALLOC, /* a live allocation */
	FXT_HOLDS_CONTEXT,
	FXT_HOLDS_MOMENT_POINT,
	FXT_HOLDS_SHED,
};

/* The key of an item. Its bytes are hashed, so it must have no padding. */
struct fxt_holds_key {
	uint64_t kind, from; /* FROM is the writer of the event */
	uint64_t a, b, c;
};

struct fxt_held {
	void *what;                      /* the kept form of the event; see struct fxt_holds_ops */
	struct fxt_held *before, *after; /* neighbours in the order of the events */
	struct fxt_held *newer, *older;  /* neighbours among the items of the same pid */
	struct fxt_holds_key key;
	uint64_t pid; /* the item ends with this process; 0 = it outlives processes */
	size_t bytes;
	bool inherited; /* the item comes from an ancestor of the process */
	/* For the user of the rules: */
	bool ended;
	uint32_t n_users;      /* number of items that use this one */
	struct fxt_held *uses; /* the item that this one uses */
};

struct fxt_holds_ops {
	/* Makes the form of WHAT that is kept; *BYTES is its size. Returns NULL if there is no
	 * memory. */
	void *(*keep)(void *what, size_t *bytes);
	void (*let_go)(void *kept);
};

struct fxt_holds;

/* OPS is borrowed. Items of kinds whose bit (1 << kind) is set in WITHOUT are not kept. Returns 0
 * or -ENOMEM. */
int fxt_holds_new(struct fxt_holds **ret, const struct fxt_holds_ops *ops, uint32_t without);
struct fxt_holds *fxt_holds_free(struct fxt_holds *h);
DEFINE_CLEANUP(struct fxt_holds *, fxt_holds_free)

/* Keeps WHAT as the item KEY, until process PID ends. Returns as fxt_holds_process() does. */
int fxt_holds_keep(struct fxt_holds *h, const struct fxt_holds_key *key, uint64_t pid, void *what);

/* Returns the value of KEY, or NULL. */
struct fxt_held *fxt_holds_find(const struct fxt_holds *h, const struct fxt_holds_key *key);
void fxt_holds_forget(struct fxt_holds *h, struct fxt_held *held);

/* Discards the items of KIND that the writer FROM has established and that end with PID. */
void fxt_holds_forget_of(struct fxt_holds *h, uint64_t from, uint64_t pid,
			 enum fxt_holds_kind kind);

/*
 * Changes the key of HELD to KEY, which no other item may have. HELD stays at its place in the
 * order of items.
 */
void fxt_holds_rename(struct fxt_holds *h, struct fxt_held *held, const struct fxt_holds_key *key);

/* Returns the item after HELD in the order of events; HELD NULL = the first item. NULL = no further
 * item. */
struct fxt_held *fxt_holds_next(const struct fxt_holds *h, const struct fxt_held *held);

/* Returns the number of items that were not kept, since there was no room. */
uint64_t fxt_holds_left_out(const struct fxt_holds *h);

/*
 * An event of ROW, in any form. NUMBER returns the argument NAME of EVENT as a number; for a text,
 * a number that identifies it; 0 = the argument is missing.
 */
struct fxt_holds_input {
	enum fxt_row_id row;
	uint64_t from, pid; /* writer and process of the event */
	uint64_t (*number)(const void *event, int name);
	const void *event;
};

/*
 * Processes an event, which INPUT describes; WHAT is the event in the form that ops->keep takes.
 * Returns 1 if the event establishes state, 0 if not, or -ENOMEM.
 */
int fxt_holds_process(struct fxt_holds *h, const struct fxt_holds_input *input, void *what);

/*
 * Processes EV (fxt-holds-event.c), if the items are kept as struct event (fxt_holds_events).
 * Returns 0 or -ENOMEM.
 */
int fxt_holds_event(struct fxt_holds *h, const struct event *ev);

/*
 * Keeps EV, an EVENT_FRAME with a name that a kept stack needs. If the name is kept already, it
 * stays at its place in the order, which is before the stacks that need it. Returns 0 or -ENOMEM.
 */
int fxt_holds_name(struct fxt_holds *h, const struct event *ev);
extern const struct fxt_holds_ops fxt_holds_events;
