/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of options' values, beyond the type: see struct nm_arg. */
#ifndef NM_CLI_ARG_VALIDATE_H
#define NM_CLI_ARG_VALIDATE_H

#include "cli/args.h"

int nm_validate_define(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_max_duration(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_guard(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_bind(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_allow_peer(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_warmup(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_interval(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_cpus(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_slave_cpus(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_percentiles(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_seed(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_counters(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_format(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_throughput(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_require(struct nm_args *args, const char *value, char *why, size_t why_size);
int nm_validate_fail_if(struct nm_args *args, const char *value, char *why, size_t why_size);
/* NAME=RANGE; the range is read when the profile is. */
int nm_validate_sweep(struct nm_args *args, const char *value, char *why, size_t why_size);

#endif
