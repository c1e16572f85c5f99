/* SPDX-License-Identifier: Apache-2.0 */
/* Looks of options at their values, beyond the type: see struct nm_arg. */
#ifndef NM_CLI_ARG_ACCEPT_H
#define NM_CLI_ARG_ACCEPT_H

#include "cli/args.h"

int nm_accept_define(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_interval(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_cpus(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_slave_cpus(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_percentiles(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_seed(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_counters(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_format(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_accept_throughput(struct nm_args *args, const char *value, char *why, size_t why_size);

#endif
