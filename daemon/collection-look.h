/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look for the units of a collection that runs: whether they are where its filter has them. To
 * look is to walk the whole tree of cgroups, in which users make as many as they like; so a thread
 * does it.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "capture/options/collection.h"

struct collection_look;

/* OUTDATED: a unit runs in a cgroup that the filter does not have. May free the look. */
typedef void (*collection_looked_fn)(bool outdated, void *userdata);

/*
 * Looks for UNITS, a list with NULL at its end, and what F has of them; both are copied. Returns 0
 * or a negative errno.
 */
int collection_look_new(sd_event *event, char *const *units, const struct capture_filter *f,
			collection_looked_fn fn, void *userdata, struct collection_look **ret);

/* FN is not called any more. The thread keeps what it needs. */
struct collection_look *collection_look_free(struct collection_look *l);

DEFINE_CLEANUP(struct collection_look *, collection_look_free)
