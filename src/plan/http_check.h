/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of HTTP: what of them is known before the run. */
#ifndef NM_PLAN_HTTP_CHECK_H
#define NM_PLAN_HTTP_CHECK_H

#include <stdint.h>

struct nm_ir;
struct nm_ir_group;
struct nm_ir_step;

/* Puts the lines of a request together (http_check.c). */
void nm_ir_check_http(struct nm_ir *ir, const struct nm_ir_group *group, struct nm_ir_step *step);
/* Refuses a head of so many bytes that netmodel's own server would take for no request. */
void nm_ir_check_http_head(struct nm_ir *ir, const struct nm_ir_step *step, uint32_t bytes);

/* Checks what is said of its files; and reads them, as only the master does (http_files.c). */
void nm_ir_check_http_files(struct nm_ir *ir, const struct nm_ir_step *step);
void nm_ir_read_http_files(struct nm_ir *ir, struct nm_ir_step *step);

#endif
