/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "edit/edit-points.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/table.h"
#include "edit/edit-find.h"

/* A point of one archive. */
struct point {
	uint32_t number; /* number of the point in the output */
	uint64_t plan;   /* hash of the point's plan; 0 = unknown */
};

struct edit_points {
	struct table points; /* input and number -> struct point, owned */
	struct table plans;  /* hash -> struct point, owned */
	struct table
		used_numbers; /* number in the output + 1 -> this table (any non-NULL pointer) */
	uint32_t next;        /* next number that may be free */
	uint64_t seed;
	uint64_t n_moved[EDIT_INPUTS_MAX];
};

struct edit_points *edit_points_new(void)
{
	struct edit_points *p = calloc(1, sizeof(*p));

	/* The seed is random, so that nobody can construct plans with equal hashes. */
	if (p && getrandom(&p->seed, sizeof(p->seed), GRND_NONBLOCK) < 0)
		p->seed = clock_boot_ns();
	return p;
}

struct edit_points *edit_points_free(struct edit_points *p)
{
	if (!p)
		return NULL;
	table_deinit_free(&p->points);
	table_deinit_free(&p->plans);
	table_deinit(&p->used_numbers);
	return free_ptr(p);
}

bool edit_points_has(const struct fxt_record *record)
{
	return (record->type == FXT_RECORD_EVENT ||
		(record->type == FXT_RECORD_LARGE && record->subtype == FXT_LARGE_BLOB_METADATA)) &&
	       fxt_text_known(&record->category) == FXT_NAME_MOMENTS;
}

static uint64_t edit_points_key(unsigned input, uint32_t number)
{
	return (uint64_t)(input + 1) << 32 | number;
}

/*
 * Reserves a number in the output: WANTED if it is free, otherwise the next free number. Returns 0
 * or -ENOMEM.
 */
static int edit_points_reserve(struct edit_points *p, uint32_t wanted, uint32_t *ret)
{
	uint32_t number = wanted;

	if (table_get(&p->used_numbers, (uint64_t)number + 1)) {
		while (table_get(&p->used_numbers, (uint64_t)p->next + 1))
			p->next++;
		number = p->next;
	}
	*ret = number;
	return table_set(&p->used_numbers, (uint64_t)number + 1, &p->used_numbers);
}

/* Assigns *RET to point NUMBER with the hash PLAN (0 = unknown). Returns 0 or -ENOMEM. */
static int edit_points_assign(struct edit_points *p, uint64_t plan, uint32_t number, uint32_t *ret)
{
	const struct point *known = plan ? table_get(&p->plans, plan) : NULL;
	struct point new = { .plan = plan };
	int r;

	if (known) {
		*ret = known->number;
		return 0;
	}
	r = edit_points_reserve(p, number, &new.number);
	if (r < 0)
		return r;
	*ret = new.number;
	return plan && !table_copy(&p->plans, plan, &new, sizeof(new)) ? -ENOMEM : 0;
}

int edit_points_see(struct edit_points *p, unsigned input, const struct fxt_record *record)
{
	struct fxt_arg number, text;
	struct point *point;
	uint64_t plan = 0;
	int r;

	if (!edit_points_has(record) ||
	    !edit_find_arg(record, FXT_NAME_POINT, FXT_ARG_UINT32, &number))
		return 0;
	if (edit_find_arg(record, FXT_NAME_PLAN, FXT_ARG_STRING, &text))
		plan = table_hash_seeded(p->seed, text.text.bytes, text.text.length) ?: 1;
	point = table_get(&p->points, edit_points_key(input, number.uint32));
	/* (in a damaged archive, a number can have a second plan) */
	if ((point && (!plan || point->plan == plan)) || p->used_numbers.n_used >= EDIT_POINTS_MAX)
		return 0;
	point = table_make(&p->points, edit_points_key(input, number.uint32), sizeof(*point));
	if (!point)
		return -ENOMEM;
	r = edit_points_assign(p, plan, number.uint32, &point->number);
	point->plan = plan;
	p->n_moved[input] += point->number != number.uint32;
	return r;
}

uint32_t edit_points_number(const struct edit_points *p, unsigned input, uint32_t number)
{
	const struct point *point = table_get(&p->points, edit_points_key(input, number));

	return point ? point->number : number;
}

uint64_t edit_points_moved(const struct edit_points *p, unsigned input)
{
	return p->n_moved[input];
}
