# The programs of examples/, with what they print.
set(data "${CMAKE_CURRENT_SOURCE_DIR}/data/capi")
function(evalcore_example name prints)
  add_test(NAME example.${name} COMMAND example_${name} ${ARGN})
  set_tests_properties(example.${name} PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "^${prints}$")
endfunction()

evalcore_example(ask "please count -> counted\nhi there -> hello\n" "${data}/script.jsonl" "please count" "hi there")
evalcore_example(host_backend "hello -> hello, squawk\na \"quoted\" word -> a \"quoted\" word, squawk\n"
  "hello" "a \"quoted\" word")
# A question that the parrot cannot hold in its 4,096 bytes fails, and is no answer.
string(REPEAT "long " 900 long)
add_test(NAME example.host_backend.failure COMMAND example_host_backend "${long}")
set_tests_properties(example.host_backend.failure PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "failed: .*too long a text")
evalcore_example(step_engine "shout -> SHOUT\nagain -> AGAIN\n" "shout" "again")
evalcore_example(asio_host
  "please count -> counted\nwait, soon -> in a while\nbeside that the program's own timer went off 1 time\n"
  "${data}/script.jsonl" "please count" "wait, soon")
# A question that is no UTF-8 is refused, and said so beside the answers to the others.
add_test(NAME example.asio_host.refused COMMAND sh -c "'$<TARGET_FILE:example_asio_host>' \"$0\" \"$(printf '\\377')\" 'please count' 2>&1; echo ended with $?"
  "${data}/script.jsonl")
set_tests_properties(example.asio_host.refused PROPERTIES TIMEOUT 60
  PASS_REGULAR_EXPRESSION "was not asked: [a-z].*please count -> counted\n.*ended with 1\n")
# exact: right, wrong; beginning: "hello" has nothing of "goodbye", and an item that failed has no score.
evalcore_example(own_scorer
  "counts: exact 1.00, beginning 1.00\ngreets: exact 1.00, beginning 1.00\nparts: exact 0.00, beginning 0.00\nfails: no answer: the script refuses\n"
  "${data}/suite.jsonl" "${data}/script.jsonl")

# Two of four right and one without an answer, which may be right. The second run asks for that one only.
set(out "${CMAKE_CURRENT_BINARY_DIR}/example_run_suite")
add_test(NAME example.run_suite.begin COMMAND "${CMAKE_COMMAND}" -E rm -rf "${out}")
set_tests_properties(example.run_suite.begin PROPERTIES FIXTURES_SETUP example_out)
add_test(NAME example.run_suite COMMAND example_run_suite "${data}/suite.jsonl" "${data}/script.jsonl" "${out}")
add_test(NAME example.run_suite.again COMMAND example_run_suite "${data}/suite.jsonl" "${data}/script.jsonl" "${out}")
set(score "score 0.50, at most 0.75\n$")
set_tests_properties(example.run_suite PROPERTIES TIMEOUT 60 FIXTURES_REQUIRED example_out FIXTURES_SETUP example_ran
  PASS_REGULAR_EXPRESSION "4 items: 4 sent, 0 reused, 1 errors\n${score}")
set_tests_properties(example.run_suite.again PROPERTIES TIMEOUT 60 FIXTURES_REQUIRED example_ran
  PASS_REGULAR_EXPRESSION "4 items: 1 sent, 3 reused, 1 errors\n${score}")
