/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files of /proc and /sys. */
#ifndef NM_HOST_PROCFILE_H
#define NM_HOST_PROCFILE_H

#include <stddef.h>
#include <stdint.h>

/* Reads at most size - 1 bytes into buf, terminated. The number of bytes, or -errno. */
long nm_procfile_read(const char *path, char *buf, size_t size);
/* The same for a path that is put together, as by printf. */
long nm_procfile_readf(char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
/* Its first line alone, without the end of it; "": it cannot be read. */
void nm_procfile_line(char *buf, size_t size, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* The number with which it begins, which is not below 0; otherwise: it cannot be read. */
uint64_t nm_procfile_number(uint64_t otherwise, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* net.core.somaxconn: the most connections that wait at a listening socket; 0: it cannot be
 * read. */
unsigned long nm_procfile_somaxconn(void);
/* How many ports the kernel chooses from for connections (net.ipv4.ip_local_port_range); 0: it
 * cannot be read. */
unsigned long nm_procfile_ports(void);
/* The words for a host that has no port left, with how many the kernel chooses from
 * (net.ipv4.ip_local_port_range), where that can be read: "no port of this host is free (sysctl
 * net.ipv4.ip_local_port_range has 64)". Returns buf. */
char *nm_procfile_no_port(char *buf, size_t size);

#endif
