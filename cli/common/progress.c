/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define EVERY_NS  UINT64_C(500000000)
#define SECOND_NS UINT64_C(1000000000)

static bool line_is_shown; /* (a terminal has one line for all) */

static bool progress_is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

void progress_begin(struct progress *p, uint64_t total)
{
	uint64_t now = clock_boot_ns();

	*p = (struct progress){
		.wanted = isatty(STDERR_FILENO) && !progress_is_pipe(STDOUT_FILENO),
		.total = total,
		.begin_ns = now,
		.next_ns = now + EVERY_NS,
	};
}

bool progress_is_due(const struct progress *p)
{
	return p->wanted && clock_boot_ns() >= p->next_ns;
}

void progress_show(struct progress *p, uint64_t done)
{
	char size[TEXT_FORMAT_MAX];
	uint64_t now;
	double rate;

	if (!progress_is_due(p))
		return;
	now = clock_boot_ns();
	p->next_ns = now + EVERY_NS;
	rate = (double)done / ((double)(now - p->begin_ns) / (double)SECOND_NS);
	text_format_size(size, done);
	fprintf(stderr, "\r%s", size);
	/* A file can grow while it is read, so DONE can exceed the total. */
	if (p->total > 0 && done <= p->total)
		fprintf(stderr, " of %s, %.0f%%", TEXT_SIZE(p->total),
			100.0 * (double)done / (double)p->total);
	fprintf(stderr, ", %s/s", TEXT_SIZE((uint64_t)rate));
	if (rate > 0 && done <= p->total)
		fprintf(stderr, ", %.0f s left", (double)(p->total - done) / rate);
	fputs("\033[K", stderr);
	fflush(stderr);
	line_is_shown = true;
}

void progress_clear(void)
{
	if (!line_is_shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line_is_shown = false;
}
