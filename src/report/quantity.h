/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of figures: how a value of each is measured and written. */
#ifndef NM_REPORT_QUANTITY_H
#define NM_REPORT_QUANTITY_H

#include <stddef.h>

/* The kind of a figure, from which its units follow. */
enum nm_quantity {
	NM_QUANTITY_COUNT,
	NM_QUANTITY_NUMBER, /* one that need not be whole */
	NM_QUANTITY_BYTES,
	NM_QUANTITY_SECONDS,
	NM_QUANTITY_RATE,    /* a second */
	NM_QUANTITY_BITRATE, /* bits a second */
	NM_QUANTITY_SHARE,   /* 0 to 1, written in per cent */
};

/* "seconds", "bits_per_second", ...: the unit of a value in the document. */
const char *nm_quantity_unit(enum nm_quantity quantity);
/* "a time", "a rate in bits": for messages. */
const char *nm_quantity_text(enum nm_quantity quantity);
/* A value for people, with up to six digits: "12.5 ms", "3 %". Returns buf. */
char *nm_quantity_format(enum nm_quantity quantity, double value, char *buf, size_t size);

/* A share for people: "93.9%", with as many digits as tell less than all from all. Returns buf. */
char *nm_share_format(double share, char *buf, size_t size);

#endif
