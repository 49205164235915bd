/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/filter-values.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/*
 * Extends an array of *N_USED elements, with at most MAX, by N zeroed elements of SIZE bytes. *RET
 * is the first of them.
 */
static int filter_values_grow(void *array, size_t *n_used, size_t n, size_t size, size_t max,
			      void **ret, char *why)
{
	void *more;

	if (*n_used + n > max) {
		snprintf(why, VALUE_WHY_MAX, "at most %zu values are possible", max);
		return -E2BIG;
	}
	memcpy(&more, array, sizeof(more));
	more = reallocarray(more, *n_used + n, size);
	if (!more) {
		snprintf(why, VALUE_WHY_MAX, "out of memory");
		return -ENOMEM;
	}
	memcpy(array, &more, sizeof(more));
	*ret = memset((char *)more + *n_used * size, 0, n * size);
	*n_used += n;
	return 0;
}

static int filter_values_add_u32(uint32_t **array, size_t *n_used, size_t max, uint32_t value,
				 char *why)
{
	void *slot;
	int r = filter_values_grow(array, n_used, 1, sizeof(value), max, &slot, why);

	if (r == 0)
		memcpy(slot, &value, sizeof(value));
	return r;
}

int filter_add_pid(struct capture_filter *f, uint32_t pid, char why[static VALUE_WHY_MAX])
{
	return filter_values_add_u32(&f->pids, &f->n_pids, OPTION_PIDS_MAX, pid, why);
}

int filter_add_uid(struct capture_filter *f, uint32_t uid, char why[static VALUE_WHY_MAX])
{
	return filter_values_add_u32(&f->uids, &f->n_uids, FILTER_VALUES_MAX, uid, why);
}

int filter_add_user(struct capture_filter *f, const char *text, char why[static VALUE_WHY_MAX])
{
	const struct passwd *user;
	uint64_t uid;

	if (text_parse_u64(text, UINT32_MAX - 1, &uid) < 0) {
		user = getpwnam(text);
		if (!user) {
			snprintf(why, VALUE_WHY_MAX, "there is no user '%.80s'", text);
			return -ENOENT;
		}
		uid = user->pw_uid;
	}
	return filter_add_uid(f, (uint32_t)uid, why);
}

/* Cuts a thread's name to the kernel's length, at the end of a character. */
static void filter_cut_comm(char *to, const char *text)
{
	size_t n = text_cut(text, strlen(text), REC_COMM_BYTES - 1);

	memcpy(to, text, n);
	to[n] = '\0';
}

int filter_add_comm(struct capture_filter *f, const char *text, char why[static VALUE_WHY_MAX])
{
	void *slot;
	int r;

	if (*text == '\0' || !text_is_utf8(text, strlen(text))) {
		snprintf(why, VALUE_WHY_MAX, "'%.80s' is not a valid name for a thread", text);
		return -EINVAL;
	}
	r = filter_values_grow(&f->comms, &f->n_comms, 1, REC_COMM_BYTES, FILTER_VALUES_MAX, &slot,
			       why);
	if (r == 0)
		filter_cut_comm(slot, text);
	return r;
}

int filter_add_cgroups(struct capture_filter *f, const struct filter_cgroup *list, int n,
		       char why[static VALUE_WHY_MAX])
{
	void *slots;
	int r = filter_values_grow(&f->cgroups, &f->n_cgroups, (size_t)n, sizeof(*list),
				   FILTER_CGROUPS_MAX, &slots, why);

	if (r == 0)
		memcpy(slots, list, (size_t)n * sizeof(*list));
	return r;
}
