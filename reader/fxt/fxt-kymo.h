/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restores damaged data at the head of kymo's own providers.
 *
 * At its head, each of these providers has the name "kymo", 1,000,000,000 ticks per second, and
 * some hundred strings at fixed places (fxt-names.h). If a bit is changed there, the record is
 * still valid, but all later records depend on it: with other ticks, all times are wrong; without
 * the name of an argument, most switches are unreadable. So if many strings are at their places,
 * the provider is taken for kymo's, and its head is restored.
 *
 * Other versions of kymo can have other strings at some places. So a string is replaced only if it
 * differs in a few bits from the name that this version has there, and is no other name, or if it
 * replaces the right name: kymo writes each name once. A place without a string gets its name,
 * since references to the place would have no meaning otherwise. fxt-check.h still reports such
 * references as undefined.
 */
#pragma once

#include "reader/fxt/fxt-provider.h"

/*
 * Returns true if the archive itself has set the string INDEX of P to the name that kymo has there.
 */
bool fxt_kymo_is_right(const struct fxt_provider *p, unsigned index);

/*
 * Must be called after the string INDEX of P was registered. WAS_RIGHT is what fxt_kymo_is_right()
 * returned before. Returns the damage as static text, or NULL. If there is no memory, less is
 * restored.
 */
const char *fxt_kymo_see_string(struct fxt_provider *p, unsigned index, bool was_right);

/* Must be called after the ticks of P were set. Returns like fxt_kymo_see_string(). */
const char *fxt_kymo_see_ticks(struct fxt_provider *p);

/* Returns true if kymo added the text of T: the archive has no string record for it. */
bool fxt_kymo_has_added(const struct fxt_text *t);
