/* SPDX-License-Identifier: Apache-2.0 */
/* Servers for whoever connects: an accept with from=any, and what answers over its connections. */
#ifndef NM_PLAN_PUBLIC_CHECK_H
#define NM_PLAN_PUBLIC_CHECK_H

#include "plan/ir.h"

/* Whether a step takes such connections; checks what it says about them, and what uses them. */
bool nm_ir_is_public(const struct nm_ir_step *step);
void nm_ir_check_public(struct nm_ir *ir, const struct nm_ir_step *step);
void nm_ir_check_servers(struct nm_ir *ir, const struct nm_ir_group *group);
/* The port of a step that opens a connection; 0: the kernel chooses. */
uint16_t nm_ir_port(const struct nm_ir_step *step);

#endif
