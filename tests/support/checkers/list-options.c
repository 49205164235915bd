/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list-options: prints the table of options, one per line, with tabs between: name, letter,
 * placeholder, bus, type, section, key, trigger, the names of choices. "-" means none.
 */
#include <stdio.h>

#include "bus/option-bus.h"

int main(void)
{
	OPTION_FOR_EACH(row) {
		printf("%s\t%c\t%s\t%s\t%s\t%s\t%s\t%s\t", row->name ?: "-", row->letter ?: '-',
		       row->placeholder ?: "-", row->bus ?: "-", option_bus_type(row) ?: "-",
		       row->section ?: "-", row->key ?: "-", row->trigger ?: "-");
		for (unsigned i = 0; row->choice && row->choice(i); i++)
			printf("%s%s", i ? "," : "", row->choice(i));
		puts(row->choice ? "" : "-");
	}
	return 0;
}
