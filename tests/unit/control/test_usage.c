/* SPDX-License-Identifier: Apache-2.0 */
/* What a host has counted and used, between points and within its window. */
#include "control/usage.h"

#include "../suite.h"
#include "sampled.h"

static struct nm_host_interval host_rows[8];
static unsigned n_host_rows;

static void on_host_row(void *arg, const struct nm_host_interval *row)
{
	(void)arg;
	host_rows[n_host_rows++ % 8] = *row;
}

static struct nm_usage_sampler *usage;

static void start_usage(void)
{
	start();
	n_host_rows = 0;
	const struct nm_usage_config config = {
		.engine = engine, .plan = &plan, .interval_ns = S, .row = on_host_row};

	usage = nm_usage_sampler_new(&config);
	ck_assert_ptr_nonnull(usage);
	nm_samplers_add(&samplers, nm_usage_sampler_base(usage));
}

static void end_usage(void)
{
	usage = nm_usage_sampler_free(usage);
	end();
}

START_TEST(rows_of_a_host_hold_what_was_counted_between_points)
{
	begin(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 100 * S);
	run(100 * S);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 101 * S);
	sent(500);
	run(101 * S);
	sent(800);
	engine->parts[0][1].end_ns = 101 * S + S / 2;
	nm_samplers_end(&samplers, false, 102 * S);
	ck_assert_uint_eq(n_host_rows, 1);
	nm_samplers_end(&samplers, true, 102 * S);
	ck_assert_uint_eq(n_host_rows, 2);
	ck_assert_uint_eq(host_rows[0].counts.bytes_sent, 500);
	ck_assert_uint_eq(host_rows[1].counts.bytes_sent, 300);
	ck_assert_double_eq(host_rows[1].to_s, 1.5);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), UINT64_MAX);
	nm_samplers_end(&samplers, true, 103 * S);
	ck_assert_uint_eq(n_host_rows, 2);
}
END_TEST

/* Whether the kernel has counted any, or tells of neither. */
static bool has_interrupts(const struct nm_usage_row *row)
{
	return row->softirqs > 0 || row->interrupts > 0 ||
	       (row->softirqs < 0 && row->interrupts < 0);
}

/* Sleeps until it has, as for a timer. */
static void await_interrupt(void)
{
	static struct nm_usage before, after, delta;
	struct nm_usage_row row;

	nm_usage_read(&before);
	do {
		(void)usleep(1000);
		nm_usage_read(&after);
		nm_usage_delta(&before, &after, &delta);
		nm_usage_row_of(&delta, &row);
	} while (!has_interrupts(&row));
}

START_TEST(rows_of_a_host_add_up_to_its_window)
{
	struct nm_usage_window window;
	struct nm_usage_row all;

	begin(100 * S);
	run(100 * S);
	run(101 * S);
	await_interrupt();
	run(102 * S);
	engine->parts[0][1].end_ns = 102 * S + S / 2;
	nm_samplers_end(&samplers, true, 102 * S + S / 2);
	ck_assert_uint_eq(n_host_rows, 3);
	nm_usage_sampler_window(usage, 103 * S, &window);
	nm_usage_row_of(&window.usage, &all);
#define ADDS_UP(member, ...)                                                                       \
	ck_assert_int_eq(all.member, host_rows[0].usage.member + host_rows[1].usage.member +       \
					     host_rows[2].usage.member);
	NM_USAGE_ROW(ADDS_UP)
#undef ADDS_UP
	ck_assert(has_interrupts(&all));
}
END_TEST

START_TEST(the_window_of_a_host_leaves_out_the_warmup)
{
	struct nm_usage_window window;

	order.usage_from_ns = (int64_t)(2 * S);
	order.usage_to_ns = (int64_t)(6 * S);
	begin(100 * S);
	sent(200);
	engine->parts[0][1].sample.counts.messages_received = 1;
	engine->parts[0][1].sample.counts.message_bytes = 50;
	run(102 * S);
	sent(700);
	engine->parts[0][1].sample.counts.message_bytes = 80;
	run(106 * S);
	sent(900);
	engine->parts[0][1].end_ns = 110 * S;
	nm_samplers_end(&samplers, true, 110 * S);
	nm_usage_sampler_window(usage, 110 * S, &window);
	ck_assert(window.has_usage);
	ck_assert_uint_eq(window.counted.counts.bytes_sent, 500);
	ck_assert_uint_eq(window.counted.ns, 4 * S);
	ck_assert_uint_eq(window.counted.from_ns, 102 * S);
	ck_assert_uint_eq(window.counted.to_ns, 106 * S);
	ck_assert_uint_eq(window.arrived.bytes, 30);
	ck_assert_uint_eq(window.arrived.ns, 4 * S);
}
END_TEST

static void received(uint64_t bytes)
{
	engine->parts[0][1].sample.counts.bytes_received = bytes;
}

/* Data go both ways. The time is over at 103 s: the window opened when the phase began, or later,
 * or its flows came only then; or it is over at 104 s, as the flows have come late. */
static const struct {
	uint64_t from_s, begin_s, ns, bytes, after_ns, after_bytes;
} afters[] = {
	{0, 100, 5 * S, 90, 2 * S, 20},
	{4, 100, 1 * S, 10, 1 * S, 10},
	{0, 104, 1 * S, 90, 0, 0},
	{0, 101, 4 * S, 90, 1 * S, 10},
};

START_TEST(what_comes_after_the_time_is_a_part_of_the_window)
{
	struct nm_usage_window window;

	order.stop_ns = 3 * S;
	order.usage_from_ns = (int64_t)(afters[_i].from_s * S);
	order.usage_to_ns = NM_USAGE_NEVER;
	begin(100 * S);
	run(100 * S);
	sent(1);
	received(70);
	ck_assert_uint_eq(nm_samplers_next_ns(&samplers), 101 * S);
	engine->parts[0][1].begin_ns = afters[_i].begin_s <= 103 ? afters[_i].begin_s * S : 0;
	run(103 * S);
	engine->parts[0][1].begin_ns = afters[_i].begin_s * S;
	received(80);
	run(104 * S);
	received(90);
	engine->parts[0][1].end_ns = 105 * S;
	nm_samplers_end(&samplers, true, 105 * S);
	nm_usage_sampler_window(usage, 105 * S, &window);
	ck_assert_uint_eq(window.counted.ns, afters[_i].ns);
	ck_assert_uint_eq(window.counted.counts.bytes_received, afters[_i].bytes);
	ck_assert_uint_eq(window.counted.after_ns, afters[_i].after_ns);
	ck_assert_uint_eq(window.counted.after_bytes, afters[_i].after_bytes);
}
END_TEST

START_TEST(a_window_over_two_phases_is_added_up)
{
	struct nm_usage_window window;

	order.usage_to_ns = NM_USAGE_NEVER;
	begin(100 * S);
	run(100 * S);
	sent(200);
	engine->parts[0][1].end_ns = 101 * S;
	nm_samplers_end(&samplers, true, 101 * S);
	order.usage_from_ns = NM_USAGE_NEVER;
	engine->parts[0][1].begin_ns = 102 * S;
	engine->parts[0][1].end_ns = 0;
	sent(0);
	begin(102 * S);
	sent(100);
	nm_usage_sampler_window(usage, 103 * S, &window);
	ck_assert_uint_eq(window.counted.counts.bytes_sent, 300);
	ck_assert_uint_eq(window.counted.ns, 2 * S);
}
END_TEST

START_TEST(a_host_that_has_not_come_so_far_has_no_usage)
{
	struct nm_usage_window window;

	order.usage_from_ns = NM_USAGE_NEVER;
	order.measured = false;
	begin(100 * S);
	run(101 * S);
	nm_usage_sampler_window(usage, 101 * S, &window);
	ck_assert(!window.has_usage);
	ck_assert_uint_eq(window.counted.ns, 0);
	ck_assert_uint_eq(n_host_rows, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage");
	TCase *host = tcase_create("host");

	tcase_add_checked_fixture(host, start_usage, end_usage);
	tcase_add_test(host, rows_of_a_host_hold_what_was_counted_between_points);
	tcase_add_test(host, rows_of_a_host_add_up_to_its_window);
	tcase_add_test(host, the_window_of_a_host_leaves_out_the_warmup);
	tcase_add_loop_test(host, what_comes_after_the_time_is_a_part_of_the_window, 0,
			    sizeof afters / sizeof *afters);
	tcase_add_test(host, a_window_over_two_phases_is_added_up);
	tcase_add_test(host, a_host_that_has_not_come_so_far_has_no_usage);
	suite_add_tcase(suite, host);
	return run_suite(suite);
}
