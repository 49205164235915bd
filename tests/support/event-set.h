/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One list of events that holds every kind and its edges: empty texts, the longest ones, UTF-8,
 * negative priorities, losses. Writers are tested by it, and readers by what writers made of it.
 *
 * The texts are valid UTF-8, as producers make them. Fields that no format carries are 0.
 */
#pragma once

#include <stddef.h>

#include "model/event.h"

enum { EVENT_SET_CPUS = 4 };

/* START first and STOP last. Static. */
const struct event *event_set(size_t *ret_n);
