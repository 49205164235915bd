/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses one whole record. Internal to the FXT reader.
 */
#pragma once

#include "reader/fxt/fxt-record.h"

/*
 * Fills in *RECORD from record->words and n_words (at least 1) by the tables of record->provider.
 * Changes no table. Returns NULL, or a text about the error if the record is inconsistent. *RET_ODD
 * is true if the record is valid, but not exactly as specified: it has an unknown kind, words after
 * its contents, reserved bits, or arguments that do not fit.
 */
const char *fxt_parse_record(struct fxt_record *record, bool *ret_odd);
