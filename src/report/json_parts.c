/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/common.h"

json_t *nm_json_text(const char *text)
{
	if (!text)
		return json_null();
	json_t *string = json_string(text);
	if (string)
		return string;
	char *copy = strdup(text);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	string = json_string(copy);
	free(copy);
	return string;
}

json_t *nm_json_known(const char *text)
{
	return nm_json_text(text && *text ? text : NULL);
}

json_t *nm_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *nm_json_count(uint64_t value)
{
	/* JSON numbers of most readers and jansson's integers end here. */
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

json_t *nm_json_unavailable(const char *why)
{
	return json_pack("{s:o}", "unavailable",
			 nm_json_text(why && *why ? why : "it was not collected"));
}

json_t *nm_json_join(json_t *into, json_t *from)
{
	if (!into || !from || json_object_update(into, from) != 0) {
		json_decref(into);
		into = NULL;
	}
	json_decref(from);
	return into;
}

int nm_json_append(json_t *array, json_t *item)
{
	return json_array_append_new(array, item);
}

json_t *nm_json_latency(const struct nm_latency *latency, const struct nm_percentiles *percentiles)
{
	char key[32];

	if (latency->count == 0)
		return json_null();
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o}", "count", nm_json_count(latency->count), "min",
		nm_json_real(latency->min_s), "mean", nm_json_real(latency->mean_s), "max",
		nm_json_real(latency->max_s), "stddev", nm_json_real(latency->stddev_s));
	for (size_t i = 0; object && i < percentiles->count; i++) {
		nm_percentile_key(percentiles->pct[i], key, sizeof(key));
		if (json_object_set_new(object, key, nm_json_real(latency->pct_s[i])) != 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* A rate over no time is not known. */
static json_t *per_s(double amount, double seconds)
{
	return seconds > 0 ? nm_json_real(amount / seconds) : json_null();
}

static json_t *count_if(bool known, uint64_t value)
{
	return known ? nm_json_count(value) : json_null();
}

json_t *nm_json_direction(const struct nm_datagram_direction *way)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sent",
			 count_if(way->sent_known, way->sent), "received",
			 count_if(way->received_known, way->received), "lost",
			 way->lost_known ? json_integer(way->lost) : json_null(), "reordered",
			 count_if(way->order_known, way->reordered), "duplicates",
			 count_if(way->order_known, way->duplicates), "late",
			 count_if(way->order_known, way->late), "bits_received_per_s",
			 nm_json_real(way->received_bits_per_s), "jitter_s",
			 way->has_jitter ? nm_json_real(way->jitter_s) : json_null());
}

json_t *nm_json_datagrams(const struct nm_datagram_stats *messages)
{
	if (!messages->any)
		return json_object();
	return json_pack("{s:{s:o, s:o, s:o, s:o}}", "messages", "to_slaves",
			 nm_json_direction(&messages->to_slaves), "to_master",
			 nm_json_direction(&messages->to_master), "timeouts",
			 count_if(messages->slaves_known, messages->timeouts), "unanswered",
			 nm_json_count(messages->unanswered));
}

json_t *nm_json_window(const struct nm_window *window, const struct nm_percentiles *percentiles)
{
	const struct nm_counts *counts = &window->counts;
	double seconds = window->seconds;
	double sent_bits = (double)counts->bytes_sent * 8;
	double received_bits = (double)counts->bytes_received * 8;

	json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o}", "seconds", nm_json_real(seconds),
				   "transactions", nm_json_count(counts->iterations),
				   "transactions_per_s", per_s((double)counts->iterations, seconds),
				   "bytes_sent", nm_json_count(counts->bytes_sent),
				   "bytes_received", nm_json_count(counts->bytes_received));
	object = nm_json_join(object,
			      json_pack("{s:o, s:o, s:o}", "bits_per_s",
					per_s(sent_bits + received_bits, seconds),
					"bits_sent_per_s", per_s(sent_bits, seconds),
					"bits_received_per_s", per_s(received_bits, seconds)));
	object = nm_json_join(object, json_pack("{s:o, s:o, s:o, s:o}", "errors",
						nm_json_count(counts->errors), "connects",
						nm_json_count(counts->connects), "accepts",
						nm_json_count(counts->accepts), "latency_s",
						nm_json_latency(&window->latency, percentiles)));
	if (window->response.count)
		object = nm_json_join(object,
				      json_pack("{s:o}", "response_s",
						nm_json_latency(&window->response, percentiles)));
	return object;
}
