/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of an EVENT_MOMENT by its plan: as text, and as the arguments that Perfetto shows.
 * Plan and event can come from a file, and are not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/moments/moment-plan.h"
#include "base/outbuf.h"
#include "model/event.h"

/*
 * Appends the bytes of V at EV to TO. Returns NULL, or the reason why V was not collected (a static
 * text, or a text of V).
 */
const char *moment_values_collect(const struct moment_plan_variable *v, const struct event *ev,
				  struct outbuf *to);

/*
 * Writes the value of V at EV, for display, to TO (SIZE > 4 bytes). Returns false if V was not
 * collected. Then the text in TO is the reason.
 */
bool moment_values_print(const struct moment_plan_variable *v, const struct event *ev, char *to,
			 size_t size);

/*
 * Sets *RET to the value of trace state variable I of PLAN at EV. Returns false if the moment does
 * not have it.
 */
bool moment_values_tsv(const struct moment_plan *plan, const struct event *ev, uint32_t i,
		       uint64_t *ret);

enum {
	MOMENT_VALUES_NAME_BYTES = 80,
	MOMENT_VALUES_TEXT_BYTES = 160,
	/* Maximum size of shapes, since longer ones can take long to print. */
	MOMENT_VALUES_SHAPE_MAX = 512,
};

struct moment_values {
	struct call_value list[EVENT_MOMENT_VALUES_MAX];
	unsigned n;
	char names[EVENT_MOMENT_VALUES_MAX][MOMENT_VALUES_NAME_BYTES];
	char texts[EVENT_MOMENT_VALUES_MAX][MOMENT_VALUES_TEXT_BYTES];
};

/*
 * Fills TO with the first values of EV: trace state variables as $NAME, then variables. Omits
 * variables that can never be collected at this point, and those with long names or shapes.
 */
void moment_values_fill(struct moment_values *to, const struct moment_plan *plan,
			const struct event *ev);
