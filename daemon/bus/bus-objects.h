/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All objects of the service, for manager_new().
 */
#pragma once

#include "daemon/sessions/daemon-state.h"

extern const struct manager_objects bus_objects;
