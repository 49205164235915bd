/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plans of an archive's moments (model/moment-values.h decodes values with them).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/moments/moment-plan.h"
#include "base/table.h"
#include "model/event.h"

struct moment_store {
	struct table plans; /* number + 1 -> struct moment_plan, owned */
};

void moment_store_deinit(struct moment_store *s);

/* Adds an event of any kind. Skips an invalid plan. Returns 0 or -ENOMEM. */
int moment_store_add(struct moment_store *s, const struct event *ev);

/*
 * Returns the plan of EV, an EVENT_MOMENT; NULL = the archive does not have the plan, or was
 * redacted.
 */
const struct moment_plan *moment_store_plan(const struct moment_store *s, const struct event *ev);
