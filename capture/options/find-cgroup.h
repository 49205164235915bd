/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups by path and by unit name, as the filter needs them: the id of the parent, which does not
 * change, and the name below it, which a unit keeps across restarts.
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
 * Searches the tree for cgroups called UNIT, at most MAX. ".service" is appended if UNIT has no
 * dot. Returns their number, a negative errno as above, or -E2BIG.
 */
int find_cgroup_unit(const char *unit, struct filter_cgroup *list, int max);

/*
 * The same, but prefers cgroups that belong to root: users can choose any name below the cgroups
 * that systemd delegates to them.
 */
int find_cgroup_unit_trusted(const char *unit, struct filter_cgroup *list, int max);

/*
 * The same, for a unit that need not run. If no cgroup of its name belongs to root, *LIST contains
 * the one that systemd will create, if its parent exists: a service in system.slice, a template
 * instance in the template's slice, a slice below the slices in its name. It follows cgroups of
 * users with that name. Returns as above; -ENOENT if the parent does not exist yet. *RET_RUNS is
 * whether the unit was found.
 */
int find_cgroup_unit_to_be(const char *unit, struct filter_cgroup *list, int max, bool *ret_runs);

/* Writes a sentence about an error of these functions for WHAT to WHY, and returns it. */
char *find_cgroup_error(int error, const char *what, char why[static VALUE_WHY_MAX]);
