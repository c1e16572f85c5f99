/* SPDX-License-Identifier: Apache-2.0 */
/* The log of passes (--log-rtt), in the columns of neper. */
#ifndef NM_CLI_RTT_LOG_H
#define NM_CLI_RTT_LOG_H

#include "cli/log_file.h"
#include "control/options.h"

void nm_rtt_log_head(struct nm_log_file *log);
/* Rows that are no passes are left out. */
void nm_rtt_log_add(struct nm_log_file *log, const struct nm_response_row *rows, size_t count);

#endif
