/* SPDX-License-Identifier: Apache-2.0 */
/* Reads TCP_INFO. */
#include "transport/tcp_fields.h"

#include <errno.h>
#include <linux/tcp.h> /* glibc's has not all of it */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/conn.h"

int nm_tcp_fields_read(const struct nm_conn *conn, uint64_t ret_values[NM_TCP_N_FIELDS])
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
		return -errno;
#define VALUE(name, member) info.tcpi_##member,
	const uint64_t values[] = {NM_TCP_FIELDS(VALUE)};
#undef VALUE

	memcpy(ret_values, values, sizeof values);
	return 0;
}
