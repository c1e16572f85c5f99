/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics about elements of a profile, and where the values come from that they are about. */
#ifndef NM_PLAN_DIAG_H
#define NM_PLAN_DIAG_H

#include "base/diag.h"
#include "profile/tree.h"

struct nm_ir;
struct nm_ir_step;

/* Adds a diagnostic about a flowop: "<flowop write>" and the text. Returns the diagnostic until the
 * next is added, or NULL when out of memory: for the functions below, which take NULL. */
struct nm_diag *nm_step_error(const struct nm_ir *ir, const struct nm_ir_step *step,
			      const char *fmt, ...) __attribute__((format(printf, 3, 4)));
struct nm_diag *nm_step_warn(const struct nm_ir *ir, const struct nm_ir_step *step, const char *fmt,
			     ...) __attribute__((format(printf, 3, 4)));
/* Adds one about an unknown word: an error, or where the reader is lenient a warning. */
struct nm_diag *nm_step_unknown(const struct nm_ir *ir, const struct nm_ir_step *step,
				const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Adds one about another element, as its start tag has it: "<group>" and the text. */
struct nm_diag *nm_node_error(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
			      ...) __attribute__((format(printf, 3, 4)));
struct nm_diag *nm_node_warn(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
			     ...) __attribute__((format(printf, 3, 4)));
struct nm_diag *nm_node_unknown(const struct nm_ir *ir, const struct nm_node *node, const char *fmt,
				...) __attribute__((format(printf, 3, 4)));

/* An error about the value of an option of a flowop, with the parameter that gives it, when one
 * gives all of it. */
void nm_option_error(const struct nm_ir *ir, const struct nm_ir_step *step, const char *option,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A warning about an option that has no effect, with the parameters of nm_origin_named. */
void nm_option_warn(const struct nm_ir *ir, const struct nm_ir_step *step, const char *option,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* An error about the value of an attribute, with the parameter that gives it. */
void nm_attr_error(const struct nm_ir *ir, const struct nm_node *node, const char *attr,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* For an error about the value of an attribute: adds the parameter that gives the value, when one
 * gives all of it. False: none does. A warning stays as it is: its value is not wrong. */
bool nm_origin_attr(struct nm_diag *diag, const struct nm_attr *attr);
/* Finds the attribute by its name first. */
bool nm_origin_of_attr(struct nm_diag *diag, const struct nm_node *node, const char *name);
/* For an error about the value of an option of a flowop: adds the parameter that gives it. */
bool nm_origin_option(struct nm_diag *diag, const struct nm_ir_step *step, const char *name);
/* For a diagnostic about these options together, whatever their values are: adds each parameter
 * that gives one its value or, through when= and unless=, chooses the flowop for the sake of one
 * without a value. Either name may be NULL. */
void nm_origin_named(struct nm_diag *diag, const struct nm_ir_step *step, const char *name,
		     const char *other);

#endif
