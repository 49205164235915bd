/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kernel objects say of who they are about.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"

/*
 * Whether RECORD, a kernel object, says only that nothing could be learned of its owner: it is
 * called "?" and has no start time (docs/FXT-MAPPING.md, "Kernel objects").
 */
bool fxt_object_is_unknown(const struct fxt_record *record);
