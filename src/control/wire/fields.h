/* SPDX-License-Identifier: Apache-2.0 */
/* Structs to JSON and back, by their tables of fields (base/field.h). Bodies from a peer are
 * hostile: each value is checked against its type and limits before it is written anywhere, and a
 * text is copied only where it fits. Nothing here keeps state; each function may be called on any
 * thread. */
#ifndef NM_CONTROL_WIRE_FIELDS_H
#define NM_CONTROL_WIRE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "base/field.h"

/* The struct as an object. Takes the values of VALUE fields, also when it fails. NULL when out of
 * memory, or when a VALUE that is not optional is NULL. */
json_t *nm_fields_pack(const struct nm_field *fields, const void *from);
/* Reads an object with exactly these members. 0, or -EPROTO; then the values in *ret mean nothing.
 * Texts and VALUEs are borrowed from the body. */
int nm_fields_unpack(const struct nm_field *fields, const json_t *body, void *ret);
/* As nm_fields_unpack, but takes an object that has other members too: a peer of another
 * version. */
int nm_fields_unpack_known(const struct nm_field *fields, const json_t *body, void *ret);

/* Appends the values of the struct to a list, in the order of the table. 0 or -ENOMEM. */
int nm_fields_append(json_t *list, const struct nm_field *fields, const void *from);
/* Reads the values of the table from *at on, and moves *at behind them. 0 or -EPROTO. */
int nm_fields_take(const json_t *list, size_t *at, const struct nm_field *fields, void *ret);
/* A list with the values of one struct, owned; NULL when out of memory. */
json_t *nm_row_pack(const struct nm_field *fields, const void *from);
/* Reads a list with exactly these values. 0 or -EPROTO. */
int nm_row_unpack(const struct nm_field *fields, const json_t *list, void *ret);

/* --- single values --- */

/* A string of any bytes, owned: bytes that are not UTF-8 become "?". NULL when out of memory. */
json_t *nm_text_pack(const char *text);
/* A string of at most max bytes, borrowed from the value. 0 or -EPROTO. */
int nm_text_unpack(const json_t *value, size_t max, const char **ret_text);
/* A whole number from 0 to max. 0 or -EPROTO. */
int nm_u64_unpack(const json_t *value, uint64_t max, uint64_t *ret);
int nm_u32_unpack(const json_t *value, uint32_t max, uint32_t *ret);
/* A list of numbers, owned; those above NM_FIELD_MOST become that. NULL when out of memory. */
json_t *nm_u64s_pack(const uint64_t *values, size_t count);
/* A list of exactly count numbers, of at most NM_FIELD_MOST. 0 or -EPROTO. */
int nm_u64s_unpack(const json_t *list, uint64_t *ret_values, size_t count);
/* The list, or NULL without the list after an error. */
json_t *nm_list_or_nothing(json_t *list, int error);

#endif
