/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of fields: the members of a struct, each declared once. Differences of two readings, the
 * control protocol, results with their schema, and documents are all made by walking these tables,
 * so that a field which is added to a table is carried everywhere. */
#ifndef NM_BASE_FIELD_H
#define NM_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No count and no sum of times of a run comes near this, and several of them together fit into 64
 * bits. */
#define NM_FIELD_MOST (UINT64_C(1) << 60)
/* Readings of a clock: so that the difference of two fits into 63 bits. */
#define NM_FIELD_MOST_CLOCK (UINT64_C(1) << 62)

/* The type of the value at the offset of a field. */
enum nm_field_type {
	NM_FIELD_U64,	/* uint64_t, at most NM_FIELD_MOST unless max says otherwise */
	NM_FIELD_U32,	/* uint32_t or unsigned */
	NM_FIELD_I64,	/* int64_t that is not below -1; -1 is "none" or "not known" */
	NM_FIELD_BOOL,	/* bool */
	NM_FIELD_REAL,	/* double, not below 0 */
	NM_FIELD_SHARE, /* double, 0 to 1 */
	NM_FIELD_TEXT,	/* const char *, of at most max bytes */
	NM_FIELD_CHARS, /* char[max + 1] */
	NM_FIELD_BYTES, /* unsigned char[max], written as hexadecimal digits */
	NM_FIELD_VALUE, /* void *: a value of the encoding itself, made and read by other code */
	NM_FIELD_NULL,	/* nothing; the offset means nothing */
	/* Made of other fields; `fields` is the table of these. */
	NM_FIELD_OBJECT, /* a struct: members by name */
	NM_FIELD_ROW,	 /* a struct: members without names, in the order of the table */
	NM_FIELD_LIST,	 /* an array within the struct, with at most max items: rows */
	NM_FIELD_VECTOR, /* a pointer to an array whose length both sides know: rows */
	/* bool, and one of the two fields of `fields`, whose offsets count from the struct that has
	 * the bool: the first where it is true, else the second, which is CHARS or NULL. */
	NM_FIELD_EITHER,
};

/* The meaning of a field's number where a result shows it. */
enum nm_field_unit {
	NM_UNIT_COUNT,
	NM_UNIT_FACT, /* 0: not known */
	NM_UNIT_PART, /* time of CPUs: shown as its share of all that a struct nm_cpu_times has */
	NM_UNIT_NS,   /* time: shown as seconds */
	/* a highest value so far: of two readings the later one counts, not the difference */
	NM_UNIT_PEAK,
};

struct nm_field {
	const char *name; /* of the member; NULL ends a table */
	enum nm_field_type type;
	enum nm_field_unit unit;
	bool optional; /* TEXT, VALUE: NULL is taken, and written as null */
	size_t offset;
	/* Numbers, REAL too: limits; max 0: NM_FIELD_MOST, or the limit of the type if that is
	 * less. TEXT, CHARS, BYTES: max is the longest. LIST: max is the number of items there is
	 * room for. */
	uint64_t min, max;
	const struct nm_field *fields;
	size_t item_size;    /* LIST, VECTOR: sizeof one item */
	size_t count_offset; /* LIST, VECTOR: where the number of items stands, a size_t */
	const char *figure;  /* its name in results; NULL: they do not have it */
	const char *doc;     /* a sentence, as documents print it; NULL: the name says it */
};

#define NM_FIELD(field_type, owner, member, ...)                                                   \
	{                                                                                          \
		.name = #member, .type = NM_FIELD_##field_type, .offset = offsetof(owner, member), \
		__VA_ARGS__                                                                        \
	}
/* An array of characters. */
#define NM_FIELD_CHARS_OF(owner, member, ...)                                                      \
	NM_FIELD(CHARS, owner, member, .max = sizeof(((owner *)NULL)->member) - 1, __VA_ARGS__)
#define NM_FIELD_END                                                                               \
	{                                                                                          \
		.name = NULL                                                                       \
	}

/* The highest value of a number: U64, U32 and REAL. */
uint64_t nm_field_most(const struct nm_field *field);
/* How many fields a table has. */
size_t nm_fields_count(const struct nm_field *fields);
/* Writes each U64 of *after less its value in *before into *ret: for a PEAK the later value, and 0
 * where a counter went backwards. Of I64 the same, and -1 where one of the two is. The three are
 * structs of one type, and *ret may be *after. Other types are left alone. */
void nm_fields_subtract(const struct nm_field *fields, const void *before, const void *after,
			void *ret);

#endif
