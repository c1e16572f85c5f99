/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded requests: the table that comes of their lines. */
#include "plan/recorder.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "base/hash.h"

#define MEMBERS                                                                                    \
	{                                                                                          \
		[NM_VERB_GET] = 1, [NM_VERB_SET] = 2                                               \
	}

static int add(struct nm_recorder *recorder, const char *line, unsigned number)
{
	char why[256] = "";
	int r = nm_recorder_add(recorder, line, number, why, sizeof why);

	ck_assert_int_eq(r == -EINVAL, *why != '\0');
	return r;
}

/* Ends the recorder, of which `ret` is all that is left. */
static void end(struct nm_recorder *recorder, struct nm_recording *ret)
{
	nm_recorder_end(recorder, ret);
	nm_recorder_fini(recorder);
}

static void fini(const struct nm_recording *recording)
{
	free((void *)recording->list);
	free((void *)recording->texts);
	free((void *)recording->key_list);
}

static void assert_key(const struct nm_recording *recording, uint64_t request, const char *text)
{
	char buf[NM_KEY_MAX];
	uint64_t key = recording->list[request].key;
	const size_t length = strlen(text);

	ck_assert_uint_eq(nm_keyspace_length(&recording->keys, key), length);
	ck_assert_ptr_eq(nm_keyspace_put(&recording->keys, key, buf), buf + length);
	ck_assert_mem_eq(buf, text, length);
	ck_assert_uint_eq(nm_key_value_at(&recording->keys, key),
			  nm_pool_at(nm_hash(text, length)));
	ck_assert(nm_keyspace_is(&recording->keys, key, text, length));
	ck_assert(!nm_keyspace_is(&recording->keys, key, text, length - 1));
	ck_assert(!nm_keyspace_is(&recording->keys, key, "another", strlen("another")));
}

START_TEST(the_public_form)
{
	struct nm_recorder recorder = {.members = MEMBERS};
	struct nm_recording recording;

	ck_assert_int_eq(add(&recorder, "0,q:1,3,100,7,get,0\r", 1), 1);
	ck_assert_int_eq(add(&recorder, "0,q:2,3,200,7,set,3600", 2), 1);
	ck_assert_int_eq(add(&recorder, "1,q:2,3,200,7,incr,0", 4), 0);
	ck_assert_int_eq(add(&recorder, "1,q:2,3,200,7,delete,0", 5), 0);
	ck_assert_int_eq(add(&recorder, "1,q:1,3,1073741824,8,GETS,2592001", 6), 1);
	ck_assert_uint_eq(recorder.n_unsent, 2);
	ck_assert_uint_eq(recorder.unsent_line, 4);
	ck_assert_str_eq(recorder.unsent_verb, "incr");
	end(&recorder, &recording);
	ck_assert_uint_eq(recording.count, 3);
	ck_assert_uint_eq(recording.keys.count, 2);
	ck_assert(recording.has_size && recording.has_ttl);
	ck_assert_uint_eq(recording.n_left_out, 2);
	assert_key(&recording, 0, "q:1");
	assert_key(&recording, 1, "q:2");
	assert_key(&recording, 2, "q:1");
	ck_assert_uint_eq(recording.list[1].member, 1);
	ck_assert_uint_eq(recording.list[1].size, 200);
	ck_assert_uint_eq(recording.list[1].ttl_s, 3600);
	ck_assert_uint_eq(recording.list[2].member, 0);
	ck_assert_uint_eq(recording.list[2].size, UINT32_C(1) << 30);
	ck_assert_uint_eq(recording.list[2].ttl_s, NM_RECORD_TTL_MAX);
	fini(&recording);
}
END_TEST

START_TEST(columns_have_names)
{
	static const char *const tables[][2] = {{"time,client,Key,op", "1.5, x, a;b ,get"},
						{"time\tclient\tkey\top", "1.5\tx\ta;b\tget"},
						{"time client  key op", "1.5   x a;b get "},
						{"time;client;key;op", "1.5;x;a,b;get"}};
	char why[256];

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		struct nm_recorder recorder = {.members = MEMBERS};
		struct nm_recording recording;

		ck_assert_int_eq(nm_recorder_name(&recorder, tables[i][0], why, sizeof why), 0);
		ck_assert_int_eq(add(&recorder, tables[i][1], 2), 1);
		end(&recorder, &recording);
		assert_key(&recording, 0, i < 3 ? "a;b" : "a,b");
		ck_assert(!recording.has_size && !recording.has_ttl);
		fini(&recording);
	}
}
END_TEST

/* So many keys that all tables grow several times. */
START_TEST(equal_keys_are_one)
{
	enum { KEYS = 100000 };
	struct nm_recorder recorder = {.members = MEMBERS};
	struct nm_recording recording;
	char line[64];

	for (unsigned i = 0; i < 2 * KEYS; i++) {
		snprintf(line, sizeof line, "0,key:%u,9,1,1,get,0", i % KEYS);
		ck_assert_int_eq(add(&recorder, line, i + 1), 1);
	}
	end(&recorder, &recording);
	ck_assert_uint_eq(recording.count, 2 * KEYS);
	ck_assert_uint_eq(recording.keys.count, KEYS);
	for (unsigned i = 0; i < 2 * KEYS; i += 997) {
		snprintf(line, sizeof line, "key:%u", i % KEYS);
		assert_key(&recording, i, line);
	}
	fini(&recording);
}
END_TEST

START_TEST(what_is_no_request)
{
	static const char *const lines[] = {"0,a,1,1,1,get",
					    "0,a,1,-1,1,get,0",
					    "0,a,1,1073741825,1,get,0",
					    "0,a,1,4294967297,1,get,0",
					    "0,a,1,,1,get,0",
					    "0,a,1,1,1,get,4294967296",
					    "0,,1,1,1,get,0",
					    "0,a\x7f,1,1,1,get,0",
					    "0,\"a\",1,1,1,get,0",
					    "0,a b,1,1,1,get,0"};
	char line[NM_KEY_MAX + 32];

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct nm_recorder recorder = {.members = MEMBERS};

		ck_assert_msg(add(&recorder, lines[i], 1) == -EINVAL, "%s", lines[i]);
		ck_assert_uint_eq(recorder.count, 0);
		nm_recorder_fini(&recorder);
	}
	for (int length = NM_KEY_MAX; length <= (int)NM_KEY_MAX + 1; length++) {
		struct nm_recorder recorder = {.members = MEMBERS};

		snprintf(line, sizeof line, "0,%0*d,1,1,1,get,0", length, 7);
		ck_assert_int_eq(add(&recorder, line, 1), length == NM_KEY_MAX ? 1 : -EINVAL);
		nm_recorder_fini(&recorder);
	}
}
END_TEST

START_TEST(memory_of_a_request)
{
	ck_assert_uint_eq(sizeof(struct nm_record), 12);
	ck_assert_uint_eq(sizeof(struct nm_recorded_key), 8);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("recorder");
	TCase *t = tcase_create("recorder");

	tcase_add_test(t, the_public_form);
	tcase_add_test(t, columns_have_names);
	tcase_add_test(t, equal_keys_are_one);
	tcase_add_test(t, what_is_no_request);
	tcase_add_test(t, memory_of_a_request);
	suite_add_tcase(s, t);
	return run_suite(s);
}
