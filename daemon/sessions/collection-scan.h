/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A check whether the units of a running collection are still in the cgroups of its filter. The
 * check walks the whole tree of cgroups. Users determine the size of that tree, so the check runs
 * in a thread.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "capture/options/collection.h"

struct collection_scan;

/*
 * Called when the check is done. OUTDATED = true: a unit runs in a cgroup that the filter does not
 * have. FN may free the check.
 */
typedef void (*collection_scanned_fn)(bool outdated, void *userdata);

/*
 * Starts a check of UNITS, a list that ends with NULL, and of the cgroups of F. Both are copied.
 * Returns 0 or a negative errno.
 */
int collection_scan_new(sd_event *event, char *const *units, const struct capture_filter *f,
			collection_scanned_fn fn, void *userdata, struct collection_scan **ret);

/* Frees the check. FN is not called any more. The thread keeps its own data until it ends. */
struct collection_scan *collection_scan_free(struct collection_scan *l);

DEFINE_CLEANUP(struct collection_scan *, collection_scan_free)
