/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups by path and by unit name, as the filter wants them: the id of the parent, which stays,
 * and the name below it, which a unit has again after a restart.
 */
#pragma once

#include "capture/options.h"

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
