/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The systemd unit and the container of a cgroup, from its path.
 */
#pragma once

/* The maximum size of names, NUL included; longer ones are cut. */
enum { CGROUP_NAME_MAX = 256 };

/*
 * Returns the unit of PATH: its last component that is a service, scope, mount, socket or swap;
 * otherwise its last slice. Units of a user's service manager are prefixed by "user@UID/", since
 * several users can have a unit of the same name. "/" means no unit: mostly kernel threads. Returns
 * TO.
 */
const char *cgroup_unit(char to[static CGROUP_NAME_MAX], const char *path);

/*
 * Returns the innermost container of PATH, by the names that container managers give to cgroups:
 * "docker:ID", "podman:ID", "crio:ID", "containerd:ID" (the first 12 digits of the id),
 * "machine:NAME" (those of systemd-machined: nspawn, virtual machines), "lxc:NAME", "pod:UID" (of
 * Kubernetes, if the path does not identify the container). "host" if it is in no container.
 * Returns TO.
 */
const char *cgroup_container(char to[static CGROUP_NAME_MAX], const char *path);
