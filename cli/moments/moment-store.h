/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plans of an archive's moments, and what the bytes of one are by them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/moments/moment-plan.h"
#include "base/outbuf.h"
#include "base/table.h"
#include "writer/moment-data.h"

struct moment_store {
	struct table plans; /* number + 1 -> struct moment_plan, owned */
};

void moment_store_deinit(struct moment_store *s);

/* Takes any event in. A plan that cannot be read is passed over. Returns 0 or -ENOMEM. */
int moment_store_add(struct moment_store *s, const struct event *ev);

/* The plan of EV, an EVENT_MOMENT; NULL = the archive has none, or it was redacted. */
const struct moment_plan *moment_store_plan(const struct moment_store *s, const struct event *ev);

/*
 * The value of trace state variable I of PLAN at EV, into *RET. Returns false if the moment does
 * not have it.
 */
bool moment_store_tsv(const struct moment_plan *plan, const struct event *ev, uint32_t i,
		      uint64_t *ret);

/*
 * The value of V, of PLAN, at EV, for people, into TO (SIZE > 4 bytes). Returns false if it was not
 * collected: then TO has the reason.
 */
bool moment_store_print(const struct moment_plan_variable *v, const struct event *ev, char *to,
			size_t size);
