/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of flows (--all-samples) and of TCP connections (--tcp-info) as CSV, written as they
 * come. */
#ifndef NM_CLI_FLOW_LOG_H
#define NM_CLI_FLOW_LOG_H

#include "cli/log_file.h"
#include "control/options.h"

/* percentiles: those that the rows have; NULL: none. */
void nm_flow_log_head(struct nm_log_file *log, const struct nm_percentiles *percentiles);
void nm_flow_log_add(struct nm_log_file *log, const struct nm_percentiles *percentiles,
		     const struct nm_flow_rows *rows);
void nm_tcp_log_head(struct nm_log_file *log);
void nm_tcp_log_add(struct nm_log_file *log, const struct nm_tcp_rows *rows);

#endif
