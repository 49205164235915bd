/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This file uses system calls, because the library's functions would change all threads.
 */
#include "capture/sandbox/thread-identity.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This is used instead of the user's own groups: finding those could wait for a server. */
#define NO_GROUP ((gid_t)65534)

/*
 * Sets the ids for file systems. Both system calls return the previous id, even if they fail. -1
 * changes nothing.
 */
static int thread_identity_set_file_ids(uid_t uid, gid_t gid)
{
	syscall(SYS_setfsgid, gid);
	syscall(SYS_setfsuid, uid);
	return (gid_t)syscall(SYS_setfsgid, (gid_t)-1) == gid &&
			       (uid_t)syscall(SYS_setfsuid, (uid_t)-1) == uid
		       ? 0
		       : -EPERM;
}

static int thread_identity_drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &head, none) < 0 ? -errno : 0;
}

int thread_identity_assume(const struct thread_identity *id)
{
	int dumpable, r;

	if (!id->other || id->uid == geteuid())
		return 0;
	dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	if (syscall(SYS_setgroups, 0, NULL) < 0)
		return -errno;
	r = thread_identity_set_file_ids(id->uid, NO_GROUP) ?: thread_identity_drop_capabilities();
	/*
	 * The kernel has cleared the flag for the whole process. The memory of the process still
	 * belongs to root, so the flag is set again.
	 */
	if (dumpable == 1)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return r;
}
