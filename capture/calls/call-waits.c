/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-waits.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "capture/calls/call-lists.h"
#include "model/calls/call-print.h"
#include "model/calls/call-structs.h"

enum { NO_ARG = UINT8_MAX };

/* The indices of the arguments that show what a call has found. */
static const struct call_wait {
	long number;
	uint8_t fds;      /* struct pollfd[], with their number in the next argument */
	uint8_t sets;     /* the first of three sets; their number of descriptors is argument 0 */
	uint8_t left;     /* the time that is left */
	const char *time; /* the structure of that time */
} waits[] = {
#ifdef SYS_poll
	{ SYS_poll, 0, NO_ARG, NO_ARG, NULL },
#endif
#ifdef SYS_select
	{ SYS_select, NO_ARG, 1, 4, "struct:timeval" },
#endif
	{ SYS_ppoll, 0, NO_ARG, 2, "struct:timespec" },
	{ SYS_pselect6, NO_ARG, 1, 4, "struct:timespec" },
	{ SYS_recvmmsg, NO_ARG, NO_ARG, 4, "struct:timespec" },
};

static const struct call_wait *call_wait_find(long number)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (waits[i].number == number)
			return &waits[i];
	return NULL;
}

bool call_wait_changes(long number)
{
	return call_wait_find(number) != NULL;
}

/* The sets of select(), at COPIES, of which N descriptors are used. */
static void call_wait_sets(struct call_print *p, const struct call_copies *copies, uint64_t n)
{
	static const char *const names[] = { "in", "out", "except" };
	char text[CALL_VALUE_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (copies[i].out && call_value_fds(copies[i].out, n, text) > 0 &&
		    strcmp(text, "[]") != 0)
			call_print_add(p, "%s%s %s", p->used ? ", " : "", names[i], text);
}

size_t call_wait_format(long number, const __u64 *args, const struct call_copies *copies, char *to,
			size_t size)
{
	const struct call_wait *wait = call_wait_find(number);
	struct call_print p = call_print_begin(to, size);
	const struct call_text *left;
	char text[CALL_VALUE_TEXT_MAX];

	if (!wait)
		return 0;
	if (wait->fds != NO_ARG && copies[wait->fds].out)
		p.used = call_list_ready(copies[wait->fds].out, args[wait->fds + 1], to, size);
	if (wait->sets != NO_ARG)
		call_wait_sets(&p, copies + wait->sets, (uint64_t)(int32_t)args[0]);
	left = wait->left != NO_ARG ? copies[wait->left].out : NULL;
	if (left && left->bytes > 0 &&
	    call_struct_format(call_struct_find(wait->time, strlen(wait->time)), left->text,
			       (size_t)left->bytes, text, sizeof(text)) > 0)
		call_print_add(&p, "%sleft %s", p.used ? ", " : "", text);
	return p.used;
}
