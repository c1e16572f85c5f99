/* SPDX-License-Identifier: Apache-2.0 */
/* The service manager that has started this process, as sd_notify(3) has it. */
#ifndef NM_HOST_NOTIFY_H
#define NM_HOST_NOTIFY_H

/* Tells the service manager the state: "READY=1", "STOPPING=1". path: its socket, as NOTIFY_SOCKET
 * of the environment names it. Without one (NULL), or when nobody listens there, nothing
 * happens. */
void nm_notify(const char *path, const char *state);

#endif
