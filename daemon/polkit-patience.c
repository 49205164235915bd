/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In a file of its own: the daemon that tests run has less of it.
 */
#include "daemon/polkit.h"

const uint64_t polkit_patience_usec = 20000000;
const uint64_t polkit_dialogue_usec = 120000000;
