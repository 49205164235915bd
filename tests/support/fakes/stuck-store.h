/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store whose writes hang, and cannot be called off, until all of them are let go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/store/store.h"

/* One of OWNER's. */
struct store *stuck_store_new(uid_t owner);

/* How many writes hang now. */
unsigned stuck_store_waiting(void);

/* From here on they do not, or do again. */
void stuck_store_let_go(bool go);
