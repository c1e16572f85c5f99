# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += src/libnm_plan.la
src_libnm_plan_la_SOURCES = \
	src/plan/apart.c \
	src/plan/app_check.c \
	src/plan/http_check.c \
	src/plan/arena.c \
	src/plan/arena.h \
	src/plan/attributes.c \
	src/plan/attributes.h \
	src/plan/check.c \
	src/plan/command_check.c \
	src/plan/compile.c \
	src/plan/lower.c \
	src/plan/lower_mix.c \
	src/plan/lower_mix.h \
	src/plan/diag.c \
	src/plan/diag.h \
	src/plan/ir.c \
	src/plan/keyspaces.c \
	src/plan/ir.h \
	src/plan/dump.c \
	src/plan/duration.c \
	src/plan/elements.c \
	src/plan/elements.h \
	src/plan/message_check.c \
	src/plan/mix_check.c \
	src/plan/options.c \
	src/plan/param.c \
	src/plan/params.c \
	src/plan/params.h \
	src/plan/params_priv.h \
	src/plan/pass_bytes.c \
	src/plan/public_check.c \
	src/plan/plateau.c \
	src/plan/connect_rate.c \
	src/plan/lanes.c \
	src/plan/plateau.h \
	src/plan/plan.c \
	src/plan/plan.h \
	src/plan/questions.c \
	src/plan/step.c \
	src/plan/traces.c \
	src/plan/warmup.c \
	src/plan/warmup.h \
	src/plan/conn_slots.c \
	src/plan/shape.c \
	src/plan/shape.h \
	src/plan/shorthand.c \
	src/plan/shorthand.h \
	src/plan/slowdown_check.c \
	src/plan/standard.c \
	src/plan/standard.h \
	src/plan/substitute.c \
	src/plan/throughput.h \
	src/plan/verbs.c
src_libnm_plan_la_CFLAGS = $(ROOM_CFLAGS)
