/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A store whose writes hang, and cannot be cancelled, until all of them are released.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capture/store/store.h"

/* Makes a store of OWNER. */
struct store *stuck_store_new(uid_t owner);

/* The number of hanging writes. */
unsigned stuck_store_waiting(void);

/* GO: releases all writes. Otherwise, later writes hang again. */
void stuck_store_let_go(bool go);
