/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files of /proc and /sys. */
#ifndef NM_HOST_PROCFILE_H
#define NM_HOST_PROCFILE_H

#include <stddef.h>

/* Reads at most size - 1 bytes into buf, terminated. The number of bytes, or -errno. */
long nm_procfile_read(const char *path, char *buf, size_t size);

/* net.core.somaxconn: the most connections that wait at a listening socket; 0: it cannot be
 * read. */
unsigned long nm_procfile_somaxconn(void);

#endif
