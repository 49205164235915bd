/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds cgroups by path and by unit name, in the form that the filter needs: the id of the parent,
 * which does not change, and the name below it, which a unit keeps across restarts.
 */
#pragma once

#include <stdbool.h>

#include "base/value.h"
#include "capture/options/options.h"

/*
 * Finds the cgroup PATH, which is relative to the cgroup2 mount ("system.slice/x.service"), or
 * absolute, with or without the mount point. Returns 0, -ENOENT (no such cgroup), -EINVAL (the
 * root, or a name that is too long), -ENODEV (no cgroup2 is mounted), -EXDEV (this process is in a
 * cgroup namespace, where levels of cgroups are unknown), or another errno.
 */
int find_cgroup_path(const char *path, struct filter_cgroup *ret);

/*
 * Searches the tree for cgroups with the name UNIT, at most MAX. ".service" is appended if UNIT has
 * no dot. Returns their number, -E2BIG, or a negative errno as find_cgroup_path() returns it.
 */
int find_cgroup_unit(const char *unit, struct filter_cgroup *list, int max);

/*
 * Like find_cgroup_unit(), but prefers cgroups that belong to root, because users can choose any
 * name below the cgroups that systemd delegates to them.
 */
int find_cgroup_unit_trusted(const char *unit, struct filter_cgroup *list, int max);

/*
 * Like find_cgroup_unit_trusted(), but the unit need not run. If no cgroup of that name belongs to
 * root, *LIST ends with the cgroup that systemd will create, if its parent exists: a service in
 * system.slice, a template instance in the template's slice, a slice below the slices in its name.
 * Cgroups with that name that belong to users come before this cgroup. Returns like
 * find_cgroup_unit(), and -ENOENT if the parent does not exist yet. *RET_RUNS says whether a cgroup
 * with that name exists.
 */
int find_cgroup_unit_to_be(const char *unit, struct filter_cgroup *list, int max, bool *ret_runs);

/*
 * Writes a sentence about ERROR to WHY. One of these functions has returned ERROR for the name
 * WHAT. Returns WHY.
 */
char *find_cgroup_error(int error, const char *what, char why[static VALUE_WHY_MAX]);
