/* SPDX-License-Identifier: Apache-2.0 */
/* Passes samples on to the events of the options: those of this host from its samplers, and those
 * of slaves from their messages. */
#ifndef NM_CONTROL_MASTER_RELAY_H
#define NM_CONTROL_MASTER_RELAY_H

#include "control/master/master.h"

/* For struct nm_local_config, with the master as arg. Rows of the usage are kept in the result;
 * those of single flows and connections are told, and kept nowhere. */
void nm_master_own_row(void *master, const struct nm_host_interval *row);
void nm_master_own_flows(void *master, const struct nm_flow_rows *rows);
void nm_master_own_tcp(void *master, const struct nm_tcp_rows *rows);

/* Handlers. */
int nm_link_interval(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_flows(struct nm_master *master, struct nm_link *link, json_t *body);
int nm_link_tcp(struct nm_master *master, struct nm_link *link, json_t *body);

#endif
