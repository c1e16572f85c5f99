/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NM_PLAN_LOWER_CHUNK_H
#define NM_PLAN_LOWER_CHUNK_H

#include <stdint.h>

struct nm_ir_group;

/* The most bytes that one call of the group's workers moves. */
uint64_t nm_chunk_of(const struct nm_ir_group *group);

#endif
