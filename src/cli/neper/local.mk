# SPDX-License-Identifier: Apache-2.0
# neper's command lines: one implementation of src/cli/dialect.h, and all that knows of it.
src_libnm_cli_la_SOURCES += \
	src/cli/neper/address.c \
	src/cli/neper/dialect.c \
	src/cli/neper/help.c \
	src/cli/neper/lookup.c \
	src/cli/neper/neper.h \
	src/cli/neper/options.c \
	src/cli/neper/table.c \
	src/cli/neper/translate.c \
	src/cli/neper/value.c \
	src/cli/neper/wording.c
