/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/archive-fixture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/event-set.h"
#include "tests/support/unit.h"

int archive_set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (fxt_archive_init(&f->a, &f->out, EVENT_SET_CPUS) < 0)
		return -1;
	return fxt_archive_begin(&f->a);
}

int archive_tear_down(void **state)
{
	struct fixture *f = *state;

	fxt_archive_deinit(&f->a);
	outbuf_deinit(&f->out);
	free(f);
	return 0;
}

void archive_write(struct fixture *f, const struct event *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(fxt_archive_event(&f->a, &events[i]), 0);
}
