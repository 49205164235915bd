/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The systemd unit and the container of a cgroup, from its path.
 */
#pragma once

/* The maximum size of names, NUL included; longer ones are cut. */
enum { CGROUP_NAME_MAX = 256 };

/*
 * Returns the unit of PATH: its last component that is a service, scope, mount, socket or swap;
 * otherwise its last slice. The name of a unit of a user's service manager begins with "user@UID/",
 * since several users can have a unit of the same name. "/" means no unit, as for most kernel
 * threads. Returns TO.
 */
const char *cgroup_unit(char to[static CGROUP_NAME_MAX], const char *path);

/*
 * Returns the name of the innermost container of PATH, found by the names that container managers
 * give to cgroups: "docker:ID", "podman:ID", "crio:ID", "containerd:ID" (the first 12 digits of the
 * id), "machine:NAME" (those of systemd-machined: nspawn, virtual machines), "lxc:NAME", "pod:UID"
 * (of Kubernetes, if the path does not identify the container). "host" means that PATH is in no
 * container. Returns TO.
 */
const char *cgroup_container(char to[static CGROUP_NAME_MAX], const char *path);
