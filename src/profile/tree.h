/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a tree with positions. The tree has no meaning yet: names are not checked here. */
#ifndef NM_PROFILE_TREE_H
#define NM_PROFILE_TREE_H

#include <stddef.h>

#include "base/diag.h"

/* Limits of a profile's text; each gives its own message. */
#define NM_PROFILE_MAX_BYTES 1048576
#define NM_PROFILE_MAX_DEPTH 16
#define NM_PROFILE_MAX_NODES 65536
#define NM_PROFILE_MAX_ATTRS 64
#define NM_PROFILE_MAX_VALUE 65536

/* A part of a value that stands there for the name of a parameter. */
struct nm_piece {
	size_t at, length; /* in the value */
	size_t order;	   /* of the parameter, among all */
	enum nm_subject_kind kind;
	char *name, *text; /* of the parameter, owned */
};

struct nm_attr {
	char *name;
	char *value; /* may be replaced through nm_attr_set */
	struct nm_piece *pieces;
	size_t n_pieces;
};

struct nm_node {
	char *name;
	unsigned line; /* of the start tag */
	struct nm_attr *attrs;
	size_t n_attrs;
	struct nm_node **children;
	size_t n_children;
};

/* Lets this whole process wipe what the parser frees. Not in the process of a program that may use
 * libxml2 itself. */
void nm_profile_wipe_all(void);
/* Parses text (borrowed during the call). `file` names it in messages. Returns the owned root, or
 * NULL with at least one error in diags. Text that uperf takes and XML does not allow is mended
 * first, with a warning for each place (legacy/normalise.h). Entities, includes and network access
 * are refused, not ignored. */
struct nm_node *nm_profile_parse(const char *file, const char *text, size_t length,
				 struct nm_diags *diags);
/* Reads a file (at most NM_PROFILE_MAX_BYTES) into an owned, terminated buffer; NULL with an error
 * in diags. */
char *nm_profile_slurp(const char *path, size_t *ret_length, struct nm_diags *diags);
/* The tree as XML text, each element on the line that it came from, owned by the caller (free);
 * NULL when out of memory. */
char *nm_profile_print(const struct nm_node *root);
/* An element without attributes and children, owned by the caller; NULL when out of memory. */
struct nm_node *nm_node_new(const char *name, unsigned line);
struct nm_node *nm_node_free(struct nm_node *node); /* accepts NULL, returns NULL */
/* The element with all that is in it, without the pieces of its values; owned by the caller; NULL
 * when out of memory. */
struct nm_node *nm_node_copy(const struct nm_node *node);
/* Puts an element before the child `at`, and takes it over; 0, or -ENOMEM and it is gone. */
int nm_node_insert(struct nm_node *node, size_t at, struct nm_node *child);

/* Finds an attribute by its name, in any case of it, or its value; NULL when absent. */
struct nm_attr *nm_node_find_attr(const struct nm_node *node, const char *name);
const char *nm_node_attr(const struct nm_node *node, const char *name);
/* Adds an attribute, or gives it another value, which is copied; 0 or -ENOMEM. */
int nm_node_set_attr(struct nm_node *node, const char *name, const char *value);
/* Takes out each attribute of that name, in any case of it. */
void nm_node_remove_attr(struct nm_node *node, const char *name);
/* Gives an attribute another value, which is copied; its pieces are gone. 0 or -ENOMEM. */
int nm_attr_set(struct nm_attr *attr, const char *value);
/* Notes a piece, whose strings are copied. 0 or -ENOMEM. */
int nm_attr_add_piece(struct nm_attr *attr, const struct nm_piece *piece);
void nm_attr_drop_pieces(struct nm_attr *attr);

#endif
