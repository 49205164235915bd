/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The identity of a process or thread in kernel objects.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"

/*
 * Returns true if RECORD, a kernel object, says that its process or thread is unknown: its name is
 * "?", and it has no start time (docs/FXT-MAPPING.md, "Kernel objects").
 */
bool fxt_object_is_unknown(const struct fxt_record *record);
