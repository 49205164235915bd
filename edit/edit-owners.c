/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-owners.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "edit/edit-copy.h"
#include "edit/edit-find.h"
#include "reader/fxt/fxt-object.h"
#include "writer/fxt/fxt-names.h"

/* The task that a koid identifies. */
struct owner {
	uint64_t koid;
	uint64_t start_ns; /* 0 = unknown */
	uint64_t process;  /* 0 = unknown; for processes and main threads, their own koid */
	uint64_t inputs;   /* a bit for each input that knows this owner on the machine */
};

/* A koid of an input. */
struct body {
	struct owner as;
	uint64_t to; /* the koid on the machine */
	bool known;  /* the owner is known */
	bool placed; /* `to` is final */
	bool used;   /* the koid was written to the output */
};

struct archive {
	struct table bodies; /* koid -> struct body, owned */
	unsigned machine;
	bool joined;
	uint64_t span;
	struct edit_owners_counts counts;
};

struct edit_owners {
	struct table owners;   /* machine and koid -> struct owner, owned */
	struct table by_start; /* hash of machine, tid and start -> element of `owners` */
	size_t n_bodies;
	unsigned n_inputs;
	struct archive inputs[];
};

int edit_owners_new(struct edit_owners **ret, unsigned n_inputs)
{
	*ret = calloc(1, sizeof(**ret) + n_inputs * sizeof((*ret)->inputs[0]));
	if (!*ret)
		return -ENOMEM;
	(*ret)->n_inputs = n_inputs;
	return 0;
}

struct edit_owners *edit_owners_free(struct edit_owners *o)
{
	if (!o)
		return NULL;
	for (unsigned i = 0; i < o->n_inputs; i++)
		table_deinit_free(&o->inputs[i].bodies);
	table_deinit(&o->by_start);
	table_deinit_free(&o->owners);
	return free_ptr(o);
}

const struct edit_owners_counts *edit_owners_counts(const struct edit_owners *o, unsigned input)
{
	return &o->inputs[input].counts;
}

/* Returns true if KOID is a real thread or process, whose id the kernel can reuse. */
static bool edit_owners_is_tracked(uint64_t koid)
{
	return koid != 0 && koid >> FXT_KOID_TID_BITS != 1 && koid <= UINT32_MAX;
}

/* ---- owners on a machine ---- */

static uint64_t edit_owners_key(unsigned machine, uint64_t koid)
{
	return (uint64_t)(machine + 1) << 32 | koid;
}

static struct owner *edit_owners_get_owner(const struct edit_owners *o, unsigned machine,
					   uint64_t koid)
{
	return table_get(&o->owners, edit_owners_key(machine, koid));
}

static uint64_t edit_owners_start_key(unsigned machine, uint64_t koid, uint64_t start_ns)
{
	const uint64_t words[] = { machine, fxt_koid_tid(koid), start_ns };

	return table_hash(words, sizeof(words));
}

/* Returns the owner with the tid of KOID and the start time START_NS, or NULL. */
static struct owner *edit_owners_find_by_start(const struct edit_owners *o, unsigned machine,
					       uint64_t koid, uint64_t start_ns)
{
	struct owner *owner = NULL;

	if (start_ns)
		owner = table_get(&o->by_start, edit_owners_start_key(machine, koid, start_ns));
	return owner && owner->start_ns == start_ns &&
			       fxt_koid_tid(owner->koid) == fxt_koid_tid(koid)
		       ? owner
		       : NULL;
}

static int edit_owners_learn_start(struct edit_owners *o, unsigned machine, struct owner *owner,
				   uint64_t start_ns)
{
	if (start_ns == 0 || owner->start_ns)
		return 0;
	owner->start_ns = start_ns;
	if (edit_owners_find_by_start(o, machine, owner->koid, start_ns))
		return 0;
	return table_set(&o->by_start, edit_owners_start_key(machine, owner->koid, start_ns),
			 owner);
}

static int edit_owners_add_owner(struct edit_owners *o, unsigned machine, const struct owner *as)
{
	struct owner *owner =
		table_copy(&o->owners, edit_owners_key(machine, as->koid), as, sizeof(*as));

	if (!owner)
		return -ENOMEM;
	owner->start_ns = 0;
	return edit_owners_learn_start(o, machine, owner, as->start_ns);
}

static bool edit_owners_is_same(const struct owner *a, const struct owner *b)
{
	if (a->start_ns && b->start_ns)
		return a->start_ns == b->start_ns;
	return !a->process || !b->process || a->process == b->process;
}

/*
 * Returns true if KOID is unused on MACHINE, and in all inputs that are, or may be, from MACHINE.
 */
static bool edit_owners_is_free(const struct edit_owners *o, unsigned machine, uint64_t koid)
{
	if (edit_owners_get_owner(o, machine, koid))
		return false;
	for (unsigned i = 0; i < o->n_inputs; i++)
		if ((!o->inputs[i].joined || o->inputs[i].machine == machine) &&
		    table_get(&o->inputs[i].bodies, koid))
			return false;
	return true;
}

/* Returns a free later koid of KOID's tid; 0 = all are used. */
static uint64_t edit_owners_find_free(const struct edit_owners *o, const struct archive *in,
				      uint64_t koid)
{
	uint64_t next;

	for (uint64_t n = FXT_KOID_REUSE_FIRST; n <= FXT_KOID_REUSE_LAST; n++) {
		next = n << FXT_KOID_TID_BITS | fxt_koid_tid(koid);
		if (in->span && next >= in->span)
			return 0;
		if (edit_owners_is_free(o, in->machine, next))
			return next;
	}
	return 0;
}

/* ---- koids of an input ---- */

/* Finds or makes the body of KOID of IN. *RET is NULL if there are too many. */
static int edit_owners_get_body(struct edit_owners *o, struct archive *in, uint64_t koid,
				struct body **ret)
{
	struct body *body = table_get(&in->bodies, koid);

	*ret = body;
	if (body || o->n_bodies >= EDIT_OWNERS_MAX)
		return 0;
	body = table_make(&in->bodies, koid, sizeof(*body));
	if (!body)
		return -ENOMEM;
	body->as.koid = body->to = koid;
	o->n_bodies++;
	*ret = body;
	return 0;
}

static int edit_owners_place(struct edit_owners *o, struct archive *in, struct body *body);

/*
 * Sets *RET to the identity of BODY. The process in it is given by the koid that it has on the
 * machine. The koid of BODY itself can still change.
 */
static int edit_owners_describe(struct edit_owners *o, struct archive *in, const struct body *body,
				struct owner *ret)
{
	struct body *process;
	int r = 0;

	*ret = body->as;
	if (body->as.process == 0 || body->as.process == body->as.koid)
		return 0;
	process = table_get(&in->bodies, body->as.process);
	if (process && process->as.process == process->as.koid)
		r = edit_owners_place(o, in, process);
	ret->process = process ? process->to : body->as.process;
	return r;
}

/* Assigns another koid to BODY, since its koid has another owner on the machine. AS receives the
 * new identity. */
static int edit_owners_move_body(struct edit_owners *o, struct archive *in, struct body *body,
				 struct owner *as)
{
	const struct owner *known =
		edit_owners_find_by_start(o, in->machine, as->koid, as->start_ns);
	uint64_t to = known ? known->koid : edit_owners_find_free(o, in, as->koid);

	if (body->used || to == 0) {
		in->counts.shared++;
		return 0;
	}
	in->counts.moved++;
	body->to = to;
	if (known)
		return 0;
	if (as->process == as->koid)
		as->process = to;
	as->koid = to;
	return edit_owners_add_owner(o, in->machine, as);
}

/*
 * Makes BODY the owner of its koid on the machine. If the koid has another owner, BODY gets another
 * koid.
 */
static int edit_owners_find_place(struct edit_owners *o, struct archive *in, struct body *body)
{
	struct owner as, *owner;
	int r = edit_owners_describe(o, in, body, &as);

	if (r < 0)
		return r;
	owner = edit_owners_get_owner(o, in->machine, as.koid);
	if (!owner)
		return edit_owners_add_owner(o, in->machine, &as);
	if (!edit_owners_is_same(owner, &as))
		return edit_owners_move_body(o, in, body, &as);
	if (!owner->process)
		owner->process = as.process;
	return edit_owners_learn_start(o, in->machine, owner, as.start_ns);
}

static int edit_owners_place(struct edit_owners *o, struct archive *in, struct body *body)
{
	struct owner *owner;
	int r;

	if (body->placed || !body->known)
		return 0;
	body->placed = true;
	r = edit_owners_find_place(o, in, body);
	owner = r == 0 ? edit_owners_get_owner(o, in->machine, body->to) : NULL;
	if (owner)
		owner->inputs |= UINT64_C(1) << (in - o->inputs);
	return r;
}

int edit_owners_see(struct edit_owners *o, unsigned input, const struct fxt_record *record)
{
	struct archive *in = &o->inputs[input];
	uint64_t koid = record->kernel_object.koid;
	unsigned type = record->kernel_object.type;
	struct body *body;
	struct fxt_arg arg;
	int r;

	if (record->type != FXT_RECORD_KERNEL_OBJECT || !edit_owners_is_tracked(koid) ||
	    (type != FXT_OBJECT_PROCESS && type != FXT_OBJECT_THREAD) ||
	    !edit_copy_is_kymo(record->provider) || fxt_object_is_unknown(record))
		return 0;
	r = edit_owners_get_body(o, in, koid, &body);
	if (r < 0 || !body || body->placed)
		return r;
	body->known = true;
	if (!body->as.start_ns && edit_find_arg(record, FXT_NAME_START_TIME, FXT_ARG_UINT64, &arg))
		body->as.start_ns = arg.uint64;
	body->as.process =
		type == FXT_OBJECT_PROCESS ? koid : edit_find_koid(record, FXT_NAME_PROCESS);
	return in->joined ? edit_owners_place(o, in, body) : 0;
}

int edit_owners_join(struct edit_owners *o, unsigned input, unsigned machine, uint64_t span)
{
	struct archive *in = &o->inputs[input];
	struct body *body;
	int r = 0;

	in->machine = machine;
	in->joined = true;
	in->span = span;
	for (size_t pos = 0; r == 0 && (body = table_next(&in->bodies, &pos));)
		r = edit_owners_place(o, in, body);
	return r;
}

uint64_t edit_owners_koid(struct edit_owners *o, unsigned input, uint64_t koid)
{
	struct body *body;

	/* If there is no memory, the koid stays unchanged, as if there were too many koids. */
	if (!edit_owners_is_tracked(koid) ||
	    edit_owners_get_body(o, &o->inputs[input], koid, &body) < 0 || !body)
		return koid;
	body->used = true;
	return body->to;
}

bool edit_owners_knows(const struct edit_owners *o, unsigned input, uint64_t koid, uint64_t apart)
{
	const struct archive *in = &o->inputs[input];
	const struct owner *owner;
	const struct body *body;

	if (!edit_owners_is_tracked(koid))
		return false;
	body = table_get(&in->bodies, koid);
	owner = edit_owners_get_owner(o, in->machine, body ? body->to : koid);
	return owner && (owner->inputs & ~apart) != 0;
}
