/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the search in a sandbox (sandbox.h) and checks its answer. Explains errors to users.
 */
#include "capture/probes/call-places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outbuf.h"
#include "capture/probes/instruction.h"
#include "capture/sandbox/sandbox.h"

struct places_head {
	uint32_t flags;
	uint32_t n; /* number of places, which follow this head */
	uint32_t n_refused, pad_0;
	char refused[CALL_REFUSED_NAMES_MAX][CALL_PLACE_NAME_MAX];
	char nearest[CALL_PLACE_NAME_MAX];
};

/*
 * Replaces the characters that call_places_is_name() refuses, so that one name cannot make a file
 * unusable.
 */
static void call_places_clean_name(char name[static CALL_PLACE_NAME_MAX])
{
	for (size_t i = 0; i < CALL_PLACE_NAME_MAX && name[i]; i++)
		if (name[i] <= ' ' || name[i] > '~')
			name[i] = '?';
}

static void call_places_clean(struct call_places *p)
{
	call_places_clean_name(p->nearest);
	for (size_t i = 0; i < p->n_refused && i < CALL_REFUSED_NAMES_MAX; i++)
		call_places_clean_name(p->refused[i]);
	for (size_t i = 0; i < p->n; i++)
		call_places_clean_name(p->places[i].name);
}

static int call_places_answer(const void *data, size_t n, struct outbuf *to, const void *userdata)
{
	struct call_places places;
	struct places_head head;
	int r = call_places_find_in(data, n, userdata, &places);

	if (r < 0)
		return r;
	call_places_clean(&places);
	head = (struct places_head){ .flags = places.flags,
				     .n = (uint32_t)places.n,
				     .n_refused = places.n_refused };
	memcpy(head.refused, places.refused, sizeof(head.refused));
	memcpy(head.nearest, places.nearest, sizeof(head.nearest));
	outbuf_append(to, &head, sizeof(head));
	if (places.n > 0)
		outbuf_append(to, places.places, places.n * sizeof(places.places[0]));
	call_places_deinit(&places);
	return to->error;
}

/* Names must be printable, since they are shown and written to archives. */
static bool call_places_is_name(const char *name, size_t n_min)
{
	size_t n = strnlen(name, CALL_PLACE_NAME_MAX);

	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return n >= n_min && n < CALL_PLACE_NAME_MAX;
}

static bool call_places_is_place(const struct call_place *p, uint64_t file_bytes)
{
	if (p->begin >= file_bytes || p->entry >= file_bytes || p->semaphore >= file_bytes ||
	    p->n_rets > CALL_RETS_MAX || p->n_tails > CALL_TAILS_MAX ||
	    p->flags & ~CALL_PLACE_ALL || !call_places_is_name(p->name, 1))
		return false;
	for (size_t i = 0; i < p->n_rets; i++)
		if (p->rets[i] >= file_bytes || p->rets[i] == p->entry)
			return false;
	for (size_t i = 0; i < p->n_tails; i++)
		if (p->tails[i] >= file_bytes || p->tails[i] == p->entry)
			return false;
	return true;
}

bool call_places_are_valid(const struct call_places *p, uint64_t file_bytes)
{
	if (p->n > CALL_PLACES_MAX || p->n_refused > CALL_PLACES_MAX ||
	    p->flags & ~CALL_PLACES_ALL || !call_places_is_name(p->nearest, 0))
		return false;
	for (size_t i = 0; i < p->n_refused && i < CALL_REFUSED_NAMES_MAX; i++)
		if (!call_places_is_name(p->refused[i], 1))
			return false;
	for (size_t i = 0; i < p->n; i++)
		if (!call_places_is_place(&p->places[i], file_bytes))
			return false;
	return true;
}

static int call_places_parse_answer(const struct outbuf *answer, struct call_places *ret)
{
	struct places_head head;

	if (answer->size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, answer->data, sizeof(head));
	if (head.n > CALL_PLACES_MAX ||
	    answer->size != sizeof(head) + head.n * sizeof(ret->places[0]))
		return -EBADMSG;
	ret->places = malloc(head.n * sizeof(ret->places[0]) + 1);
	if (!ret->places)
		return -ENOMEM;
	memcpy(ret->places, answer->data + sizeof(head), head.n * sizeof(ret->places[0]));
	memcpy(ret->nearest, head.nearest, sizeof(ret->nearest));
	memcpy(ret->refused, head.refused, sizeof(ret->refused));
	ret->flags = head.flags;
	ret->n_refused = head.n_refused;
	ret->n = head.n;
	return 0;
}

int call_places_find_sandboxed(int fd, const struct call_places_query *query, uint64_t timeout_ns,
			       struct call_places *ret)
{
	const size_t max = sizeof(struct places_head) + CALL_PLACES_MAX * sizeof(struct call_place);
	struct outbuf answer = { .limit = max };
	struct call_places places = { 0 };
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = disassembler_load()
		    ?: sandbox_run_with(fd, call_places_answer, query, timeout_ns, max, &answer)
		    ?: call_places_parse_answer(&answer, &places);
	outbuf_deinit(&answer);
	if (r == 0 && !call_places_are_valid(&places, (uint64_t)st.st_size))
		r = -EBADMSG;
	if (r < 0)
		call_places_deinit(&places);
	else
		*ret = places;
	return r;
}

/* ---- explanations ---- */

static const char *call_places_error(int error)
{
	switch (error) {
	case -ENOEXEC:
		return "is neither a program nor a library";
	case -EBADMSG:
		return "is damaged";
	case -ENOPKG:
		return disassembler_missing();
	case -ETIME:
		return "takes too long to read";
	case -EBUSY:
		return "is on a file system that does not answer";
	default:
		return strerror(-error);
	}
}

/* Explains why no usable function was found in FILE. */
static void call_places_explain_none(const struct call_places *p, const char *file,
				     const char *pattern, char *why, size_t size)
{
	if (p->flags & CALL_PLACES_FOREIGN)
		snprintf(why, size, "%s is for another machine", file);
	else if (p->flags & CALL_PLACES_GO)
		snprintf(why, size, "%s was built by Go, which moves its stacks", file);
	else if (p->flags & CALL_PLACES_SWITCHES)
		snprintf(why, size,
			 "%s uses %s(): with --fast-returns, a call that returns on another stack "
			 "or in another thread would kill the program; omit --fast-returns (or "
			 "add --force-fast-returns, if no call of '%s' does that)",
			 file, p->nearest, pattern);
	else if (p->flags & CALL_PLACES_LOADS_STACK)
		snprintf(why, size,
			 "%s has code that switches stacks, in '%s': with --fast-returns, a call "
			 "that returns on another stack or in another thread would kill the "
			 "program; omit --fast-returns (or add --force-fast-returns, if no "
			 "call of '%s' does that)",
			 file, p->nearest, pattern);
	else if (p->flags & CALL_PLACES_NO_SECTIONS)
		snprintf(
			why, size,
			"%s has no section with code, so it is not known whether its code switches "
			"stacks: leave --fast-returns out (or add --force-fast-returns, if no call "
			"of '%s' returns on another stack or in another thread)",
			file, pattern);
	else if (p->flags & CALL_PLACES_UNSEARCHED)
		snprintf(why, size,
			 "%s has too much code to be searched for code that switches stacks: leave "
			 "--fast-returns out (or add --force-fast-returns, if no call of '%s' "
			 "returns on another stack or in another thread)",
			 file, pattern);
	else if (p->flags & CALL_PLACES_NO_START)
		snprintf(why, size,
			 "%s has no function '%s' at this address, according to its symbols and "
			 "unwind information: it is a label, or the file was replaced",
			 file, pattern);
	else if (p->flags & CALL_PLACES_NO_POINT)
		snprintf(why, size, "no instruction of %s begins at this place of '%s'", file,
			 pattern);
	else if (p->flags & CALL_PLACES_REFUSED)
		snprintf(
			why, size,
			"the kernel sets no probe on the instruction at this place of '%s' in %s, "
			"because it has a prefix (lock, cs, ds, es or ss); name another line or address",
			pattern, file);
	else if (p->flags & CALL_PLACES_NO_CODE)
		snprintf(why, size, "calls are recorded on x86-64 only");
	else if (p->flags & CALL_PLACES_VDSO)
		snprintf(
			why, size,
			"'%s' in %s stands for a function of the kernel's vDSO, '__vdso_%s', which "
			"is in no file and has no probe; the one in %s is not called",
			pattern, file, pattern, file);
	else if (p->flags & CALL_PLACES_INDIRECT)
		snprintf(why, size,
			 "'%s' in %s stands for one of several functions, which is chosen when "
			 "the program runs; %s",
			 pattern, file,
			 strpbrk(pattern, "*?")
				 ? "record it by its full name"
				 : "it can be outside of the file, so it is unknown; "
				   "use its own name");
	else if (p->flags & CALL_PLACES_NO_SYMBOLS)
		snprintf(
			why, size,
			"%s has no symbols (it is stripped): its functions have no names; compile it without -s, or install its debug symbols",
			file);
	else if (p->flags & CALL_PLACES_STRIPPED && !*p->nearest)
		snprintf(
			why, size,
			"%s has no function '%s' among those that it exports; others have no names "
			"(it is stripped)",
			file, pattern);
	else
		snprintf(why, size, "%s has no function '%s'%s%s%s", file, pattern,
			 *p->nearest ? "; did you mean '" : "", p->nearest,
			 *p->nearest ? "'?" : "");
}

bool call_places_explain(const struct call_places *p, int error, const char *file,
			 const char *pattern, char *why, size_t size)
{
	if (error < 0)
		snprintf(why, size, "%s: %s", file, call_places_error(error));
	else if (p->n == 0 || (p->flags & CALL_PLACES_INDIRECT && !strpbrk(pattern, "*?")))
		call_places_explain_none(p, file, pattern, why, size);
	else if (p->flags & CALL_PLACES_FULL)
		snprintf(why, size, "%s has more than %d functions '%s'", file, CALL_PLACES_MAX,
			 pattern);
	else
		return false;
	return true;
}
