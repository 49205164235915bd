/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restores damaged data at the head of kymo's own providers.
 *
 * At its head, each of them has the name "kymo", 1,000,000,000 ticks per second, and some hundred
 * strings at fixed places (fxt-names.h). With a changed bit there, the record is still valid, but
 * all records after it depend on it: with other ticks, all times are wrong; without the name of an
 * argument, most switches are unreadable. If many strings are at their places, the provider is
 * kymo's, and its head is restored.
 *
 * Other versions of kymo can have other strings at some places. So a string is replaced only if it
 * is almost the one that this version has there, and no other name, or if it comes second: kymo
 * writes each of them once. A place without a string gets its name, since a reference to it would
 * have no meaning otherwise. fxt-check.h still reports such a reference as undefined.
 */
#pragma once

#include "reader/fxt/fxt-provider.h"

/*
 * Returns true if the archive had a string record for the place INDEX of P with the name of kymo.
 */
bool fxt_kymo_is_right(const struct fxt_provider *p, unsigned index);

/*
 * Must be called after the string INDEX of P was registered. WAS_RIGHT: fxt_kymo_is_right() before
 * this. Returns the damage, as static text, or NULL. Without memory, less is restored.
 */
const char *fxt_kymo_see_string(struct fxt_provider *p, unsigned index, bool was_right);

/* Must be called after the ticks of P were set. Returns like fxt_kymo_see_string(). */
const char *fxt_kymo_see_ticks(struct fxt_provider *p);

/* Returns true if the archive has no string record for T, whose text was added here. */
bool fxt_kymo_has_added(const struct fxt_text *t);
