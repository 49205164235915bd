/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes one whole record apart. Internal to the FXT reader.
 */
#pragma once

#include "reader/fxt/fxt-reader.h"

/*
 * Fills in *RECORD from record->words and n_words (at least 1) by the tables of record->provider.
 * Changes no table. Returns NULL, or what is wrong: the record does not hold what it claims.
 * *RET_ODD: nothing is wrong, but it is not just what the specification describes, either. It is of
 * an unknown kind, has words behind its contents or reserved bits, or arguments that do not fit.
 */
const char *fxt_parse_record(struct fxt_record *record, bool *ret_odd);
