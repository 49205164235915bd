/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look for the units of a profile that runs: whether they are where its filter has them. To look is to walk the whole tree of
 * cgroups, in which users make as many as they like; so a thread does it.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "capture/options/collection.h"

struct profile_look;

/* OUTDATED: a unit runs in a cgroup that the filter does not have. May free the look. */
typedef void (*profile_looked_fn)(bool outdated, void *userdata);

/* Looks for UNITS, a list with NULL at its end, and what F has of them; both are copied. Returns 0 or a negative errno. */
int profile_look_new(sd_event *event, char *const *units, const struct capture_filter *f,
		     profile_looked_fn fn, void *userdata, struct profile_look **ret);

/* FN is not called any more. The thread keeps what it needs. */
struct profile_look *profile_look_free(struct profile_look *l);

DEFINE_CLEANUP(struct profile_look *, profile_look_free)
