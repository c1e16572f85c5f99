/* SPDX-License-Identifier: Apache-2.0 */
/* Names the units of figures, and writes their values for people. */
#include "report/quantity.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *nm_quantity_unit(enum nm_quantity quantity)
{
	static const char *const units[] = {
		[NM_QUANTITY_COUNT] = "count",	   [NM_QUANTITY_NUMBER] = "number",
		[NM_QUANTITY_BYTES] = "bytes",	   [NM_QUANTITY_SECONDS] = "seconds",
		[NM_QUANTITY_RATE] = "per_second", [NM_QUANTITY_BITRATE] = "bits_per_second",
		[NM_QUANTITY_SHARE] = "share",
	};

	return units[quantity];
}

const char *nm_quantity_text(enum nm_quantity quantity)
{
	static const char *const texts[] = {
		[NM_QUANTITY_COUNT] = "a count",
		[NM_QUANTITY_NUMBER] = "a number",
		[NM_QUANTITY_BYTES] = "a number of bytes",
		[NM_QUANTITY_SECONDS] = "a time",
		[NM_QUANTITY_RATE] = "a rate",
		[NM_QUANTITY_BITRATE] = "a bit rate",
		[NM_QUANTITY_SHARE] = "a share",
	};

	return texts[quantity];
}

char *nm_share_format(double share, char *buf, size_t size)
{
	int digits = 3;

	do
		snprintf(buf, size, "%.*g%%", digits, 100 * share);
	while (share < 1 && strncmp(buf, "100", 3) == 0 && digits++ < DBL_DECIMAL_DIG);
	return buf;
}

struct scale {
	double factor;
	const char *unit;
};

/* The largest unit of which the value has one at least; the scales ascend, and end with factor
 * 0. */
static void print_scaled(const struct scale *scales, double value, char *buf, size_t size)
{
	while (scales[1].factor > 0 && fabs(value) >= scales[1].factor)
		scales++;
	snprintf(buf, size, "%.6g%s%s", value / scales->factor, *scales->unit ? " " : "",
		 scales->unit);
}

char *nm_quantity_format(enum nm_quantity quantity, double value, char *buf, size_t size)
{
	static const struct scale times[] = {
		{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {0, NULL}};
	static const struct scale bits[] = {{1, "b/s"},	   {1e3, "kb/s"},  {1e6, "Mb/s"},
					    {1e9, "Gb/s"}, {1e12, "Tb/s"}, {0, NULL}};
	static const struct scale bytes[] = {{1, "B"},	  {1e3, "kB"},	{1e6, "MB"},
					     {1e9, "GB"}, {1e12, "TB"}, {0, NULL}};
	static const struct scale rates[] = {{1, "/s"}, {0, NULL}};
	static const struct scale plain[] = {{1, ""}, {0, NULL}};
	static const struct scale shares[] = {{0.01, "%"}, {0, NULL}};
	static const struct scale *const of[] = {
		[NM_QUANTITY_COUNT] = plain,  [NM_QUANTITY_NUMBER] = plain,
		[NM_QUANTITY_BYTES] = bytes,  [NM_QUANTITY_SECONDS] = times,
		[NM_QUANTITY_RATE] = rates,   [NM_QUANTITY_BITRATE] = bits,
		[NM_QUANTITY_SHARE] = shares,
	};

	if (!isfinite(value))
		snprintf(buf, size, "-");
	else if (quantity == NM_QUANTITY_COUNT)
		snprintf(buf, size, "%.10g", value);
	else
		print_scaled(of[quantity], value, buf, size);
	return buf;
}
