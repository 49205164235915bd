/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs are there: they may come and go.
 */
#pragma once

#include <stdbool.h>

/* Sets RET[cpu] for each of the N CPUs that is online. Without sysfs all are taken to be. */
void cpus_online(bool *ret, unsigned n);

/* Likewise, from TEXT ("0-3,7"), what /sys has. False, with nothing set, if it is no such list. */
bool cpus_parse(const char *text, bool *ret, unsigned n);
