/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of test_golden.c as protocol 18 has them: test_golden print writes them. */
#ifndef NM_TESTS_UNIT_CONTROL_GOLDEN_H
#define NM_TESTS_UNIT_CONTROL_GOLDEN_H

#define GOLDEN_HELLO "[\"hello\",{\"magic\":\"netmodel\",\"protocol\":18,\"version\":\"1.2\"}]"
#define GOLDEN_WELCOME                                                                             \
	"[\"welcome\",{\"protocol\":18,\"version\":\"1.2\",\"hostname\":\"ada\",\"no_auth\":true}" \
	"]"
#define GOLDEN_REFUSE "[\"refuse\",{\"code\":\"busy\",\"text\":\"too many masters\"}]"
#define GOLDEN_PREPARE                                                                             \
	"[\"prepare\",{\"run_id\":\"00112233445566778899aabbccddeeff\",\"host\":\"10.0.0.7\","     \
	"\"profile\":\"<profile/"                                                                  \
	">\",\"file\":\"web.xml\",\"cpus\":\"0-3\",\"counters\":null,\"details\":3,\"lenient\":"   \
	"true,\"interval_ns\":1000000000,\"timeout_ns\":10000000000,\"seed\":77,\"secret\":"       \
	"\"009aff0000000000000000000000000000000000000000000000000000000000\"}]"
#define GOLDEN_READY                                                                               \
	"[\"ready\",{\"endpoints\":[[0,1,[\"20001\",\"20002\"]]],\"nonce\":"                       \
	"\"00110000000000000000000000000000\",\"facts\":{\"cpus\":4,\"memory_bytes\":1073741824,"  \
	"\"cpu_latency_limit_us\":-1,\"hostname\":\"ada\",\"boot_id\":\"\",\"kernel\":\"6.19\","   \
	"\"machine\":\"\",\"os\":\"\",\"cpu_model\":\"\",\"clocksource\":\"\",\"congestion_"       \
	"control\":\"\",\"cpuidle_driver\":\"\",\"cpuidle_governor\":\"\",\"cpufreq_governor\":"   \
	"\"performance\",\"irq_accounting\":\"\"}}]"
#define GOLDEN_CONNECT                                                                             \
	"[\"connect\",{\"endpoints\":[[0,0,[\"a\",\"b\"]]],\"nonce\":"                             \
	"\"00110000000000000000000000000000\"}]"
#define GOLDEN_ARMED "[\"armed\",{}]"
#define GOLDEN_DELAY "[\"delay\",{\"ns\":60000000000}]"
#define GOLDEN_PING  "[\"ping\",{\"t\":42}]"
#define GOLDEN_PONG  "[\"pong\",{\"t\":42,\"now\":4611686018427387904}]"
#define GOLDEN_BEGIN                                                                               \
	"[\"begin\",{\"phase\":2,\"measured\":true,\"stall_ns\":9,\"stop_ns\":10,\"usage_from_"    \
	"ns\":-1,\"usage_to_ns\":9223372036854775807}]"
#define GOLDEN_BEGAN  "[\"began\",{\"phase\":1,\"at_ns\":12}]"
#define GOLDEN_STOP   "[\"stop\",{\"phase\":2,\"group\":1}]"
#define GOLDEN_CUT    "[\"cut\",{\"phase\":2,\"group\":1}]"
#define GOLDEN_FOLLOW "[\"follow\",{\"phase\":2,\"group\":0,\"totals\":[7,8]}]"
#define GOLDEN_DONE                                                                                \
	"[\"done\",{\"phase\":1,\"group\":0,\"totals\":[3,1099511627776],\"counts\":[7,0,"         \
	"1152921504606846976,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,9,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],\"span\":[5,6]}]"
#define GOLDEN_RENEW "[\"renew\",{\"group\":1}]"
#define GOLDEN_WHERE "[\"where\",{}]"
#define GOLDEN_PLACES                                                                              \
	"[\"places\",{\"list\":[[1,2,1,40,[],false],[1,2,0,0,[[4001],[4002]],true]],\"more\":3,"   \
	"\"silent\":1,\"unacked\":[2,16384,8948,20000]}]"
#define GOLDEN_HEARTBEAT "[\"heartbeat\",{\"progress\":5}]"
#define GOLDEN_FAILED	 "[\"failed\",{\"text\":\"flowop read: caf?\",\"secondary\":true}]"
#define GOLDEN_INTERVAL                                                                            \
	"[\"interval\",{\"phase\":1,\"from_s\":0.5,\"to_s\":1.0,\"cpu\":[1,2,3,4,5,6,7,8,9],"      \
	"\"usage\":[12,13,14,-1],\"counts\":[10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,11,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}]"
#define GOLDEN_FLOWS                                                                               \
	"[\"flows\",{\"phase\":2,\"at_ns\":13,\"seconds\":0.25,\"usage\":[1,2,3,4,5,6,7],"         \
	"\"flows\":[0,1,1,2,3,4,5,6,7,8,1,0,9,0,0,0,0,0,0,0]}]"
#define GOLDEN_TCP_INFO                                                                            \
	"[\"tcp_info\",{\"phase\":1,\"connections\":[0,1,2,3,4,5,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0]}]"
#define GOLDEN_FINISH "[\"finish\",{}]"
#define GOLDEN_RESULT                                                                              \
	"[\"result\",{\"groups\":[[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],[0,0,99,0,0,0,0,0,0,0,0,0,0,0,0,"  \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]]," \
	"\"connections\":{\"connections\":4,\"retransmits\":1,\"min_rtt_s\":0.0625,\"srtt_min_"    \
	"s\":0.125,\"srtt_mean_s\":0.25,\"srtt_max_s\":0.5,\"cwnd_mean\":10.0,\"mss_min\":536,"    \
	"\"mss_max\":1448,\"congestion_control\":\"cubic\",\"why\":\"\",\"tls\":{\"connections\":" \
	"4,\"resumed\":3,\"ktls_send\":2,\"ktls_receive\":1,\"version\":\"TLSv1.3\",\"cipher\":"   \
	"\"AES\"}},\"usage\":{\"length_ns\":21,\"has_cpu\":true,\"has_nics\":true,\"has_tcp\":"    \
	"false,\"has_psp\":true,\"cpu_why\":\"\",\"nics_why\":\"\",\"tcp_why\":\"no "              \
	"/proc\",\"psp_why\":\"\",\"cpu\":[1,2,3,4,5,6,7,8,9],\"process\":[11,12,13,14,15,16,17]," \
	"\"throttling\":[18,19,20],\"tcp\":[21,22,23,24,25,26,27,28,29],\"nics\":[[\"eth0\",[1,2," \
	"3,4,5,6,7,8,9,10]]],\"psp\":[[\"eth1\",3,[1,2,3,4,5,6,7,8,9,10]]],\"unhalted\":[\"msr\"," \
	"2,43,44,45,46,47],\"cpufreq\":\"there is no cpufreq "                                     \
	"driver\",\"interrupts\":[31,32],\"softirqs\":\"the kernel does not count "                \
	"them\",\"softnet\":[33,34,35,36,37],\"pressure\":[38,-1,39,40,41,42]},\"cpus\":[[5,1,2,"  \
	"3,4,5,6,7,8]],\"cpus_why\":\"\",\"vectors\":[[\"eth0\",24,\"eth0-rx-0\",9]],"             \
	"\"counters\":[[\"cycles\",12,null,null,\"no "                                             \
	"kernel\",0.5],[\"x\",null,3,4,\"\",1.0]],\"arrived\":[11,12],\"window\":[[13,14,1],[0,0," \
	"17,0,0,0,0,0,0,0,0,0,0,0,0,15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0],[16,1],[0,0]],\"strangers\":0,\"last_stranger\":\"\","         \
	"\"others\":[2,7,9],\"cut\":[8,4,0,0,0,0],\"report\":null}]"
#define GOLDEN_SHORT_RESULT                                                                        \
	"[\"result\",{\"groups\":[[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]],"   \
	"\"connections\":{\"connections\":0,\"retransmits\":0,\"min_rtt_s\":0.0,\"srtt_min_s\":0." \
	"0,\"srtt_mean_s\":0.0,\"srtt_max_s\":0.0,\"cwnd_mean\":0.0,\"mss_min\":0,\"mss_max\":0,"  \
	"\"congestion_control\":\"\",\"why\":\"none was "                                          \
	"open\",\"tls\":{\"connections\":0,\"resumed\":0,\"ktls_send\":0,\"ktls_receive\":0,"      \
	"\"version\":\"\",\"cipher\":\"\"}},\"usage\":null,\"cpus\":[],\"cpus_why\":\"\","         \
	"\"vectors\":[],\"counters\":[],\"arrived\":[0,0],\"window\":[[0,0,0],[0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0],[0,0],[0,0]],\"strangers\":0,\"last_stranger\":\"\",\"others\":[0,0,0],"       \
	"\"cut\":[0,0,0,0,0,0],\"report\":{\"elapsed_ns\":0,\"groups\":[]}}]"
#define GOLDEN_BYE                                                                                 \
	"[\"bye\",{\"window\":[[1000000000,3000000000,2000000000],[5,7,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],[" \
	"0,0],[0,0]]}]"
#define GOLDEN_ABORT "[\"abort\",{\"code\":\"busy\",\"text\":\"too many masters\"}]"

#endif
