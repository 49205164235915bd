/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define EVERY_NS UINT64_C(500000000)

void progress_begin(struct progress *p, uint64_t total)
{
	*p = (struct progress){
		.wanted = isatty(STDERR_FILENO),
		.total = total,
		.next_ns = clock_boot_ns() + EVERY_NS,
	};
}

void progress_show(struct progress *p, uint64_t done)
{
	char size[TEXT_FORMAT_MAX];
	uint64_t now;

	if (!p->wanted)
		return;
	now = clock_boot_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	text_format_size(size, done);
	/* A file can grow while it is read. */
	if (p->total > 0 && done <= p->total)
		fprintf(stderr, "\r%s of %s, %.0f%%\033[K", size, TEXT_SIZE(p->total),
			100.0 * (double)done / (double)p->total);
	else
		fprintf(stderr, "\r%s\033[K", size);
	fflush(stderr);
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
