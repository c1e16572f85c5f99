/* SPDX-License-Identifier: Apache-2.0 */
/* --generate schema: RELAX NG of the profile language, made from the tables of elements, flowops
 * and transports. An attribute that may hold a parameter is checked by its form only: $name can
 * stand for anything. */
#include "cli/cli.h"

#include <string.h>

#include "flowop/common.h"
#include "flowop/flowop.h"
#include "plan/elements.h"
#include "transport/transport.h"

/* Opens or closes an element of the schema; the depth is where it stands. */
static void line(FILE *out, int depth, const char *text)
{
	fprintf(out, "%*s%s\n", depth * 2, "", text);
}

static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else
			fputc(*text, out);
	}
}

static void print_documentation(FILE *out, int depth, const char *help)
{
	fprintf(out, "%*s<a:documentation>", depth * 2, "");
	print_escaped(out, help);
	fputs("</a:documentation>\n", out);
}

/* A string with a parameter somewhere. */
static void print_substituted(FILE *out, int depth)
{
	line(out, depth, "<data type=\"string\"><param name=\"pattern\">.*[$].*</param></data>");
}

static void print_attribute(FILE *out, const struct nm_opt *attr)
{
	const bool needed = attr->required && !attr->unless[0];
	int depth = 3;

	if (!needed)
		line(out, depth++, "<optional>");
	fprintf(out, "%*s<attribute name=\"%s\">\n", depth * 2, "", attr->name);
	print_documentation(out, depth + 1, attr->help);
	if (attr->choices) {
		line(out, depth + 1, "<choice>");
		for (size_t i = 0; attr->choices[i]; i++)
			fprintf(out, "%*s<value>%s</value>\n", (depth + 2) * 2, "",
				attr->choices[i]);
		print_substituted(out, depth + 2);
		line(out, depth + 1, "</choice>");
	} else {
		line(out, depth + 1, "<text/>");
	}
	line(out, depth, "</attribute>");
	if (!needed)
		line(out, --depth, "</optional>");
}

static void print_names(FILE *out, const struct nm_opt *opts, bool *first)
{
	for (; opts && opts->name; opts++) {
		fprintf(out, "%s%s", *first ? "" : "|", opts->name);
		*first = false;
		if (opts->alias)
			fprintf(out, "|%s", opts->alias);
	}
}

/* The options attribute of one flowop: a list of words of its own tables. */
static void print_flowop(FILE *out, const struct nm_flowop *op)
{
	bool first = true;

	line(out, 4, "<group>");
	print_documentation(out, 5, op->help);
	fprintf(out, "          <attribute name=\"type\"><value>%s</value></attribute>\n",
		op->name);
	fputs("          <optional><attribute name=\"options\"><list><zeroOrMore>\n"
	      "            <data type=\"token\"><param name=\"pattern\">[$].*|(",
	      out);
	print_names(out, op->opts, &first);
	for (size_t i = 0; (op->flags & NM_FLOWOP_OPENS) && nm_transports[i]; i++)
		print_names(out, nm_transports[i]->opts, &first);
	for (size_t i = 0; (op->flags & NM_FLOWOP_MOVES) && nm_transports[i]; i++)
		print_names(out, nm_transport_message_opts(nm_transports[i]), &first);
	print_names(out, nm_common_opts, &first);
	fputs(")(=.*)?</param></data>\n"
	      "          </zeroOrMore></list></attribute></optional>\n",
	      out);
	line(out, 4, "</group>");
}

static void print_flowops(FILE *out)
{
	line(out, 3, "<choice>");
	for (size_t i = 0; nm_flowops[i]; i++)
		print_flowop(out, nm_flowops[i]);
	line(out, 4, "<group>");
	line(out, 5, "<attribute name=\"type\">");
	print_substituted(out, 6);
	line(out, 5, "</attribute>");
	line(out, 5, "<optional><attribute name=\"options\"/></optional>");
	line(out, 4, "</group>");
	line(out, 3, "</choice>");
}

static void print_children(FILE *out, const struct nm_element *parent)
{
	bool any = false;

	for (const struct nm_element *e = nm_elements; e->name; e++) {
		if (!nm_element_is_in(e, parent->name))
			continue;
		if (!any)
			line(out, 3, "<zeroOrMore><choice>");
		any = true;
		fprintf(out, "        <ref name=\"%s\"/>\n", e->name);
	}
	if (any)
		line(out, 3, "</choice></zeroOrMore>");
	else
		line(out, 3, "<empty/>");
}

static void print_element(FILE *out, const struct nm_element *element)
{
	fprintf(out, "  <define name=\"%s\">\n    <element name=\"%s\">\n", element->name,
		element->name);
	print_documentation(out, 3, element->help);
	/* The options of a flowop depend on its type, so the schema has both in one definition. */
	bool flowop = strcmp(element->name, "flowop") == 0;
	for (const struct nm_opt *attr = element->attrs; attr->name; attr++)
		if (!flowop ||
		    (strcmp(attr->name, "type") != 0 && strcmp(attr->name, "options") != 0))
			print_attribute(out, attr);
	if (flowop)
		print_flowops(out);
	print_children(out, element);
	fputs("    </element>\n  </define>\n", out);
}

void nm_cli_generate_schema(FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!-- The profile language; made from the tables of netmodel. -->\n"
	      "<grammar xmlns=\"http://relaxng.org/ns/structure/1.0\"\n"
	      "         xmlns:a=\"http://relaxng.org/ns/compatibility/annotations/1.0\"\n"
	      "         datatypeLibrary=\"http://www.w3.org/2001/XMLSchema-datatypes\">\n"
	      "  <start>\n    <choice>\n",
	      out);
	for (const struct nm_element *e = nm_elements; e->name; e++)
		if (!e->parents[0])
			fprintf(out, "      <ref name=\"%s\"/>\n", e->name);
	fputs("    </choice>\n  </start>\n", out);
	for (const struct nm_element *e = nm_elements; e->name; e++)
		print_element(out, e);
	fputs("</grammar>\n", out);
}
