/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of an archive, once all mappings are known that it tells of at any time.
 */
#pragma once

#include "writer/event.h"
#include "writer/maps.h"

/* An event, with the mappings of all times. Returns 0, or a negative errno that ends it. */
typedef int (*archive_event_fn)(const struct maps *maps, const struct event *ev, void *userdata);

/* Returns 0 or a negative errno. */
int archive_passes(const char *path, archive_event_fn fn, void *userdata);
