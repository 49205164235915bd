/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file-kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

int file_type_of(int fd, mode_t *ret)
{
	struct statx st;

	/* A file's type never changes, so the cached one is correct. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return -errno;
	*ret = st.stx_mode & S_IFMT;
	return 0;
}

uint64_t file_place_of(int fd)
{
	uint64_t place, other = (uint64_t)fd << 32;
	struct statx st;

	/*
	 * A file system that refuses to report the type still reports its device, if no attribute
	 * is requested.
	 */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) < 0)
		return other;
	place = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
	switch (st.stx_mode & S_IFMT) {
	case S_IFIFO:
	case S_IFSOCK:
	case S_IFCHR:
	case S_IFBLK:
		/* Each file of these types can block on its own, so it is a place of its own. */
		return place ^ st.stx_ino << 40 ^ st.stx_ino;
	case 0:
		/*
		 * Type 0: anonymous files (eventfd, epoll) share one inode, so each descriptor is a
		 * place of its own. If the inode is 0, the file system refused to report
		 * attributes: the place is the file system.
		 */
		return st.stx_ino ? place ^ other : place;
	default:
		return place;
	}
}

/* Names for magic numbers that linux/magic.h lacks are in comments. */
static const uint32_t local_filesystems[] = {
	BTRFS_SUPER_MAGIC, CRAMFS_MAGIC,      EROFS_SUPER_MAGIC_V1,  EXFAT_SUPER_MAGIC,
	EXT4_SUPER_MAGIC,  F2FS_SUPER_MAGIC,  HUGETLBFS_MAGIC,       ISOFS_SUPER_MAGIC,
	MSDOS_SUPER_MAGIC, NILFS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC,
	SQUASHFS_MAGIC,    TMPFS_MAGIC,       UDF_SUPER_MAGIC,       XFS_SUPER_MAGIC,
	0x24051905, /* UBIFS */
	0x2fc12fc1, /* ZFS */
	0xca451a4e, /* bcachefs */
};

bool file_system_is_local(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(local_filesystems); i++)
		if (local_filesystems[i] == type)
			return true;
	return false;
}

static const struct {
	uint32_t type;
	const char *name;
} kernel_filesystems[] = {
	{ PROC_SUPER_MAGIC, "procfs" },     { SYSFS_MAGIC, "sysfs" },
	{ CGROUP_SUPER_MAGIC, "cgroupfs" }, { CGROUP2_SUPER_MAGIC, "cgroupfs" },
	{ TRACEFS_MAGIC, "tracefs" },       { DEBUGFS_MAGIC, "debugfs" },
	{ BPF_FS_MAGIC, "bpffs" },          { 0x62656570, "configfs" },
	{ SECURITYFS_MAGIC, "securityfs" }, { SELINUX_MAGIC, "selinuxfs" },
	{ EFIVARFS_MAGIC, "efivarfs" },     { BINFMTFS_MAGIC, "binfmt_misc" },
};

const char *file_kernel_filesystem(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_filesystems); i++)
		if ((uint32_t)fs.f_type == kernel_filesystems[i].type)
			return kernel_filesystems[i].name;
	return NULL;
}
