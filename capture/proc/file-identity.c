/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/file-identity.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { MINOR_BITS = 20 }; /* of a device in struct rec_mapping */

int file_identity_get(int fd, struct file_identity *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct file_identity){
		.device = (uint64_t)major(st.st_dev) << MINOR_BITS | minor(st.st_dev),
		.inode = st.st_ino,
		.is_anonymous = major(st.st_dev) == 0,
	};
	return 0;
}

bool file_identity_is_of(const struct file_identity *f, uint64_t device, uint64_t inode)
{
	return f->inode == inode &&
	       (f->device == device || f->is_anonymous || device >> MINOR_BITS == 0);
}
