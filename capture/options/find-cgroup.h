/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups by path and by unit name, as the filter wants them: the id of the parent, which stays,
 * and the name below it, which a unit has again after a restart.
 */
#pragma once

#include <stdbool.h>

#include "base/value.h"
#include "capture/options/options.h"

/*
 * PATH is relative to the cgroup2 mount ("system.slice/x.service"), or absolute, with the mount
 * point or without it. Returns 0, -ENOENT (no such cgroup), -EINVAL (the root, or a name that is
 * too long), -ENODEV (no cgroup2 is mounted), or another errno.
 */
int find_cgroup_path(const char *path, struct filter_cgroup *ret);

/*
 * Looks for cgroups called UNIT anywhere in the tree, at most MAX. ".service" is appended when
 * there is no dot in UNIT. Returns how many were found, or a negative errno as above, or -E2BIG.
 */
int find_cgroup_unit(const char *unit, struct filter_cgroup *list, int max);

/*
 * Likewise, but those that belong to root, if there are any: users can call theirs, below what
 * systemd delegates to them, as they like.
 */
int find_cgroup_unit_trusted(const char *unit, struct filter_cgroup *list, int max);

/*
 * Likewise, of a unit that need not run: where there is no cgroup of its name that is root's, *LIST
 * is the one that systemd will give it (a service in system.slice, one of a template in the
 * template's slice, a slice below the slices in its name), if that one's parent is there, behind
 * those of users that are called so. Returns as above; -ENOENT where there is no such parent yet.
 * *RET_RUNS is whether it was found.
 */
int find_cgroup_unit_to_be(const char *unit, struct filter_cgroup *list, int max, bool *ret_runs);

/* What an error of these means, of WHAT, a sentence: writes to WHY and returns it. */
char *find_cgroup_error(int error, const char *what, char why[static VALUE_WHY_MAX]);
