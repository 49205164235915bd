/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/load-library.h"

#include <dlfcn.h>
#include <errno.h>

int load_library(const char *soname, const struct library_function *functions, size_t n, void *to)
{
	void *library = dlopen(soname, RTLD_NOW | RTLD_NODELETE);
	int r = library ? 0 : -ENOPKG;

	for (size_t i = 0; r == 0 && i < n; i++)
		if (!dlsym(library, functions[i].name))
			r = -ENOPKG;
	for (size_t i = 0; r == 0 && i < n; i++) {
		void **function = (void **)(void *)((char *)to + functions[i].offset);

		*function = dlsym(library, functions[i].name);
	}
	if (library)
		dlclose(library);
	return r;
}
