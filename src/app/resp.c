/* SPDX-License-Identifier: Apache-2.0 */
/* Takes answers of Redis apart as far as it takes to know where they end. Aggregates nest, but only
 * how many elements are missing in all counts, so that no stack is kept. */
#include "app/resp.h"

#include "app/value.h"

/* parser->state */
enum { BEGIN, AT_LINE, IN_VALUE };

/* Of aggregates: so many elements follow. */
static enum nm_parsed expect(struct nm_app_parser *parser, uint64_t elements)
{
	if (elements > NM_RESP_ELEMENTS_MAX - parser->check)
		return NM_PARSED_BAD;
	parser->check += (uint32_t)elements;
	return NM_PARSED_MORE;
}

/* "$-1", "*-1" and "_". */
static bool is_null(const struct nm_line_text *line)
{
	return nm_line_is(line, "_") || nm_line_is(line, "$-1") || nm_line_is(line, "*-1");
}

/* Reads the number behind the type, and what follows from it. */
static enum nm_parsed take_counted(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	static const struct nm_app_request unchecked = {.size = 0};
	const char type = line->text[0];
	uint64_t n;
	size_t digits = nm_line_number(line->text + 1, line->there - 1, INT64_MAX, &n);

	if (!digits || 1 + digits != line->length)
		return NM_PARSED_BAD;
	switch (type) {
	case '!':
		parser->class = NM_CLASS_REFUSED;
		/* fallthrough */
	case '$':
	case '=':
		parser->check--;
		parser->state = IN_VALUE;
		nm_value_begin(parser, &unchecked, n);
		return NM_PARSED_MORE;
	case '*':
	case '~':
		parser->check--;
		return expect(parser, n);
	case '%':
		parser->check--;
		return n > NM_RESP_ELEMENTS_MAX ? NM_PARSED_BAD : expect(parser, 2 * n);
	case '|': /* what it is of follows */
		return n > NM_RESP_ELEMENTS_MAX ? NM_PARSED_BAD : expect(parser, 2 * n);
	case '>': /* belongs to no request */
		return expect(parser, n);
	default:
		return NM_PARSED_BAD;
	}
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	if (!line->length)
		return NM_PARSED_BAD;
	if (is_null(line)) {
		parser->check--;
		return NM_PARSED_MORE;
	}
	switch (line->text[0]) {
	case '-':
		parser->class = NM_CLASS_REFUSED;
		/* fallthrough */
	case '+':
	case ':':
	case ',':
	case '(':
	case '#':
		parser->check--;
		return NM_PARSED_MORE;
	default:
		return take_counted(parser, line);
	}
}

enum nm_parsed nm_resp_take(struct nm_app_parser *parser, const char *data, size_t n,
			    size_t *ret_taken)
{
	static const struct nm_app_request unchecked = {.size = 0};
	enum nm_parsed parsed = NM_PARSED_MORE;
	struct nm_line_text line;
	size_t taken = 0, some;

	if (parser->state == BEGIN) {
		parser->class = NM_CLASS_OK;
		parser->check = 1;
		parser->state = AT_LINE;
	}
	while (parsed == NM_PARSED_MORE && taken < n) {
		if (parser->state == IN_VALUE) {
			parsed = nm_value_take(parser, &unchecked, data + taken, n - taken, &some);
			if (parsed == NM_PARSED_DONE) {
				parser->state = AT_LINE;
				parsed = NM_PARSED_MORE;
			}
		} else {
			switch (nm_line_take(&parser->line, data + taken, n - taken, &line,
					     &some)) {
			case NM_LINE_WHOLE:
				parsed = take_line(parser, &line);
				break;
			case NM_LINE_BAD:
				parsed = NM_PARSED_BAD;
				break;
			case NM_LINE_MORE:
				break;
			}
		}
		taken += some;
		if (parsed == NM_PARSED_MORE && !parser->check && parser->state == AT_LINE)
			parsed = NM_PARSED_DONE;
	}
	*ret_taken = taken;
	return parsed;
}
