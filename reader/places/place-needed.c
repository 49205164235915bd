/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/places/place-needed.h"

#include <string.h>

#include "reader/places/places-parts.h"

/* libelf reads tables completely, and the file can claim any size for them, so larger ones are not
 * read. */
enum { PLACE_NEEDED_TABLE_MAX = 64 << 20 };

/*
 * Returns the text of entry number I among those entries of the dynamic section that have TAG; NULL
 * = there is none.
 */
static const char *place_needed_entry(const struct places *p, GElf_Sxword tag, size_t i)
{
	Elf *elf = p->main.elf->elf;
	GElf_Shdr header, strings;
	Elf_Scn *section = elf_file_section_of(p->main.elf, SHT_DYNAMIC, &header), *names;
	Elf_Data *data;
	GElf_Dyn entry;

	if (!section || header.sh_size > PLACE_NEEDED_TABLE_MAX ||
	    !(names = elf_getscn(elf, header.sh_link)) || !gelf_getshdr(names, &strings) ||
	    strings.sh_size > PLACE_NEEDED_TABLE_MAX || !(data = elf_getdata(section, NULL)))
		return NULL;
	for (int at = 0; gelf_getdyn(data, at, &entry) && entry.d_tag != DT_NULL; at++)
		if (entry.d_tag == tag && i-- == 0)
			return elf_strptr(elf, header.sh_link, entry.d_un.d_val);
	return NULL;
}

const char *place_needed_name(const struct places *p, size_t i)
{
	return place_needed_entry(p, DT_NEEDED, i);
}

const char *place_needed_path(const struct places *p, enum place_needed_path path)
{
	return place_needed_entry(p, path == PLACE_NEEDED_RUNPATH ? DT_RUNPATH : DT_RPATH, 0);
}

bool place_needed_is_dynamic(const struct places *p)
{
	Elf *elf = p->main.elf->elf;
	GElf_Phdr header;
	size_t n;

	if (elf_getphdrnum(elf, &n) != 0)
		return true;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
			return true;
	return place_needed_entry(p, DT_SONAME, 0) != NULL;
}

bool place_needed_same_size(const struct places *a, const struct places *b)
{
	return gelf_getclass(a->main.elf->elf) == gelf_getclass(b->main.elf->elf);
}
