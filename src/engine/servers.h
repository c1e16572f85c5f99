/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are not netmodel: nm_engine_set_servers is in engine.h. */
#ifndef NM_ENGINE_SERVERS_H
#define NM_ENGINE_SERVERS_H

struct nm_servers;

void nm_servers_fini(struct nm_servers *servers); /* it may be zero */

#endif
