/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "reader/views/cgroup-names.h"
#include "tests/support/unit.h"

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct row {
	const char *path, *name;
};

TEST(test_units)
{
	static const struct row rows[] = {
		{ "/", "/" },
		{ "", "/" },
		{ "/init.scope", "init.scope" },
		{ "/system.slice/nginx.service", "nginx.service" },
		{ "/system.slice/nginx.service/workers/1", "nginx.service" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
		{ "/system.slice", "system.slice" },
		{ "/a.slice/a-b.slice", "a-b.slice" },
		{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope",
		  "user@1000/init.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service",
		  "user@1000/x.service" },
		{ "/user.slice/user-1000.slice/user@1000.service", "user@1000.service" },
		{ "/no/unit/at/all", "/" },
		{ "/.service", "/" },
		{ "/sys-kernel-debug.mount", "sys-kernel-debug.mount" },
		{ "/machine.slice/machine-a.scope/payload/system.slice/b.service", "b.service" },
	};
	char name[CGROUP_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(cgroup_unit(name, rows[i].path), rows[i].name);
}

TEST(test_containers)
{
	static const struct row rows[] = {
		{ "/", "host" },
		{ "", "host" },
		{ "/system.slice/nginx.service", "host" },
		{ "/system.slice/docker-" ID64 ".scope", "docker:0123456789ab" },
		{ "/system.slice/docker-" ID64 ".scope/system.slice/x.service",
		  "docker:0123456789ab" },
		{ "/system.slice/docker-nothex.scope", "host" },
		{ "/docker/" ID64, "docker:0123456789ab" },
		{ "/docker/short", "host" },
		{ "/machine.slice/libpod-" ID64 ".scope/container", "podman:0123456789ab" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID64 ".scope",
		  "podman:0123456789ab" },
		{ "/machine.slice/libpod-conmon-" ID64 ".scope", "host" },
		{ "/machine.slice/machine-my\\x2dbox.scope/payload", "machine:my-box" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm.scope", "machine:qemu-1-vm" },
		{ "/machine.slice/systemd-nspawn@deb.service/payload", "machine:deb" },
		{ "/machine.slice/machine-\\x1b\\x.scope", "machine:\\x1b\\x" },
		{ "/lxc.payload.web/system.slice/x.service", "lxc:web" },
		{ "/lxc/web/init.scope", "lxc:web" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice/"
		  "crio-" ID64 ".scope",
		  "crio:0123456789ab" },
		{ "/kubepods.slice/kubepods-pod12_34.slice/cri-containerd-" ID64 ".scope",
		  "containerd:0123456789ab" },
		{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod12_34.slice",
		  "pod:12_34" },
		{ "/kubepods/besteffort/pod12-34/" ID64, "containerd:0123456789ab" },
		{ "/kubepods/besteffort/pod12-34", "pod:12-34" },
		{ "/kubepods-pod.slice", "host" },
		{ "/podium", "host" },
		/* The innermost container. */
		{ "/machine.slice/machine-a.scope/payload/docker/" ID64, "docker:0123456789ab" },
	};
	char name[CGROUP_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(cgroup_container(name, rows[i].path), rows[i].name);
}

TEST(test_long)
{
	char path[4096] = "/lxc.payload.", name[CGROUP_NAME_MAX];

	memset(path + strlen(path), 'x', 3000);
	assert_int_equal(strlen(cgroup_container(name, path)), CGROUP_NAME_MAX - 1);
	strcat(path, ".service");
	assert_int_equal(strlen(cgroup_unit(name, path)), CGROUP_NAME_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
