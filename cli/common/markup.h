/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in XML and HTML.
 */
#pragma once

#include "base/outbuf.h"

/*
 * Appends TEXT, escaped, so that it is text and never markup: in an element, or in a quoted
 * attribute. Characters that XML cannot contain are replaced (text_clean()). TEXT can be any bytes.
 */
void markup_add_text(struct outbuf *out, const char *text);
