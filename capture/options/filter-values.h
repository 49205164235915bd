/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters as users write them.
 *
 * All functions return 0, or -EINVAL, -ENOENT (not found), -E2BIG or -ENOMEM with a sentence in
 * WHY; the filter is then unchanged.
 */
#pragma once

#include "base/value.h"
#include "capture/options/options.h"

/* Adds a process, by its id. The process need not exist. */
int filter_add_pid(struct capture_filter *f, uint32_t pid, char why[static VALUE_WHY_MAX]);

/* Adds a user, by number. */
int filter_add_uid(struct capture_filter *f, uint32_t uid, char why[static VALUE_WHY_MAX]);

/* Adds a user, by name or number. */
int filter_add_user(struct capture_filter *f, const char *text, char why[static VALUE_WHY_MAX]);

/* Adds the name of a thread. */
int filter_add_comm(struct capture_filter *f, const char *text, char why[static VALUE_WHY_MAX]);

/* Adds N cgroups. */
int filter_add_cgroups(struct capture_filter *f, const struct filter_cgroup *list, int n,
		       char why[static VALUE_WHY_MAX]);
